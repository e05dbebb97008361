"""Does each read come after exactly the writes of its bytes?  far-log.py DUMP LOG...: a trace, and what far-talk.c logged."""
import json, sys

events = {}
for text in open(sys.argv[1]):
    said = json.loads(text)
    if 'event' in said:
        events[said['event']] = said


def partners(event):
    is_ = event['partner']
    return is_ if isinstance(is_, list) else [is_] if is_ else []


calls, threads = {}, {}
for name in sys.argv[2:]:
    for text in open(name):
        process, connection, what, begin, end = text.split()
        calls.setdefault(process, []).append((connection, {'end': 'ended'}.get(what, what), int(begin), int(end)))
for name, e in events.items():
    if e['type'] in ('write', 'read', 'ended'):
        threads.setdefault(e['thread'], []).append((int(name.split(':')[1]), name))

# which thread is which process: by what it did
moved, wrong = {}, []
for thread, of in threads.items():
    names = [name for _, name in sorted(of)]
    kinds = [events[name]['type'] for name in names]
    matching = [p for p, made in calls.items() if [c[1] for c in made] == kinds]
    if not matching:
        continue
    for name, call in zip(names, calls.pop(matching[0])):
        moved[name] = call, matching[0]
wrong += ['process %s is not there as it was' % p for p in calls]
writes = {}
for name, (c, process) in moved.items():
    if c[1] == 'write':
        writes.setdefault(c[0], []).append((c[2], c[3], name, process))
reads = doubts = 0
for name, (c, process) in moved.items():
    if c[1] != 'read':
        continue
    e, reads = events[name], reads + 1
    got = set(partners(e))
    right = {w for begin, end, w, writer in writes.get(c[0], []) if writer != process and begin < c[3] and end > c[2]}
    doubts += e['uncertain'] is not None
    if got - right or (right - got and not e['uncertain']):
        wrong.append('%s (%s %d..%d) is after %s, not %s' % (name, c[0], c[2], c[3], sorted(got), sorted(right)))
ended = [e for e in events.values() if e['type'] == 'ended']
early = sum(e['time_ns'] < events[s]['time_ns'] for e in events.values() if e['type'] in ('read', 'ended') for s in partners(e))
print('%d reads, %d in doubt, %d wrong, %d early; %d ends, %d in doubt, %d unknown' % (
    reads, doubts, len(wrong), early, len(ended), sum(e['uncertain'] is not None for e in ended),
    sum(not partners(e) for e in ended)))
for w in wrong[:20]:
    print(w)
