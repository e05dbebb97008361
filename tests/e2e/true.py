"""Is each bound true, and no receive before its send?  true.py STAT DUMP HOST=OFFSET,PPM,SINCE..."""
import json, sys
stat = json.load(open(sys.argv[1]))
set_to = {}
for a in sys.argv[3:]:
    host, numbers = a.split('=')
    set_to[host] = [int(n) for n in numbers.split(',')]
clocks = {c['host']: c for c in stat['clocks']}
first = next(c for c in stat['clocks'] if c['first'])['host']
wrong, unknown, widest = [], 0, 0
o, p, since = set_to[first]
for host, c in clocks.items():
    at = c['at_clock_ns']
    real = (at - o + since * p * 1e-6) / (1 + p * 1e-6)       # on the machine's clock, to far below a us
    o2, p2, since2 = set_to[host]
    ahead = real + o2 + (real - since2) * p2 * 1e-6 - at
    drift = ((1 + p2 * 1e-6) / (1 + p * 1e-6) - 1) * 1e9
    if not c['known']:
        unknown += 1
        continue
    widest = max(widest, c['ahead_most_ns'] - c['ahead_least_ns'])
    if not c['ahead_least_ns'] <= ahead + 1 or not ahead - 1 <= c['ahead_most_ns']:
        wrong.append('%s is ahead by %.0f, not %d to %d' % (host, ahead, c['ahead_least_ns'], c['ahead_most_ns']))
    if not c['drift_least_ppb'] <= drift <= c['drift_most_ppb']:
        wrong.append('%s drifts by %.1f ppb, not %d to %d' % (host, drift, c['drift_least_ppb'], c['drift_most_ppb']))
    if c['uneven']:
        wrong.append(host + ' went unevenly')
time, sends, receives, early = {}, 0, 0, 0
events = [json.loads(l) for l in open(sys.argv[2])]
events = [e for e in events if 'event' in e]
for e in events:
    time[e['event']] = e['time_ns']
for e in events:
    if e['type'] == 'receive':
        for s in e['partner'] if isinstance(e['partner'], list) else [e['partner']]:
            receives += 1
            early += time[e['event']] < time[s]
print('%d clocks, %d unknown, wrong: %s; %d messages, %d before they went; %s' % (
    len(clocks), unknown, '; '.join(wrong) or 'none', receives, early,
    'within 1 s' if widest < 1e9 else 'within %d ns' % widest))
