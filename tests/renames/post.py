"""post.py ROOT LIST: what apply.py cannot: names that are pasted together, flags, conditions, the API in other languages."""
import re,sys,os
LIST=os.path.realpath(sys.argv[2]); os.chdir(sys.argv[1])
def ed(p,*subs):
    s=open(p).read()
    for a,b in subs:
        n=re.sub(a,b,s,flags=re.M)
        if n==s: print('no match',p,a)
        s=n
    open(p,'w').write(s)
told=[(r'told_##type name',r'field_##type name'),(r'struct told_##(message|type)\b',r'struct \1##_message'),(r'put_told_##',r'encode_##'),(r'get_told_##',r'decode_##')]
ed('wire/told.h',*told,
   (r'M\(text, ','M(annotation, '),(r'M\(unseen, ','M(untraced, '),(r'M\(meter, ','M(metric, '),(r'M\(span, ','M(carrier, '),(r'M\(far, ','M(remote_stream, '),(r'M\(hole, ','M(stream_gap, '))
ed('wire/told.c',*told[1:],(r'put_##type',r'encode_##type'),(r'get_##type',r'decode_##type'))
ed('tests/unit/test_told.c',*told[1:],(r'CASE\((\d+), text\b',r'CASE(\1, annotation'),(r'CASE\((\d+), unseen\b',r'CASE(\1, untraced'),(r'CASE\((\d+), far\b',r'CASE(\1, remote_stream'),(r'CASE\((\d+), hole\b',r'CASE(\1, stream_gap'))
lists={}
for l in open(LIST):
    p=l.split('#')[0].split()
    if p and p[0]=='enum': lists[p[1]]=p[2]
def rows(path,macro,old,new,arg=1):
    """Rows `M(12, NAME` in path: NAME by what old+NAME is renamed to."""
    s=open(path).read()
    def one(m):
        args=m.group(2).split(',')
        name=args[arg].strip()
        to=lists.get(old+name)
        if to is None: return m.group(0)
        assert to.startswith(new),(old+name,to)
        args[arg]=args[arg].replace(name,to[len(new):])
        return m.group(1)+','.join(args)
    s=re.sub(r'\b('+macro+r'\()((?:[^,()]*,){%d}[^,()]*)'%arg,one,s)
    s=s.replace(old+'##',new+'##')
    open(path,'w').write(s)
rows('wire/message.h','M','MESSAGE_','MESSAGE_')
rows('wire/ask.h','Q','ASK_','REQUEST_')
rows('wire/ask.h','P','PART_','RESPONSE_')
rows('wire/unseen.h','R','UNSEEN_','UNTRACED_')
rows('wire/asleep.h','A','ASLEEP_','SLEEP_IN_')
rows('wire/strip.h','S','STRIP_','BAND_',0)
rows('server/causes/findings.h','K','MAYBE_','FINDING_',0)
rows('server/causes/findings.c','K','MAYBE_','FINDING_',0)
ed('wire/message.h',(r'NATS_STREAM_COMPLETE','COMPLETE'))
ed('clients/trace/process/closing.c',(r'_Alignas\(struct entry\)','_Alignas(struct directory_entry)'))
ed('clients/trace/calls/once.c',(r'cleanup\(leave_initialiser\)','cleanup(once_call_end_initializer)'))
ed('tests/unit/test_causes.c',(r'\bPAIRS_RESERVED\b','SEGMENT_IDS_RESERVED'))
ed('clients/trace/core/link.c',(r'globl live\\n\.hidden live\\n\.set live, live_page','globl current_lifetime\\\\n.hidden current_lifetime\\\\n.set current_lifetime, live_page'))
api={}
for l in open(LIST):
    p=l.split('#')[0].split()
    if len(p)==3 and p[0] in('name','macro') and p[1].startswith(('poet_','POET_')): api[p[1]]=p[2]
for f in os.popen('git ls-files').read().split('\n')[:-1]:
    if f=='CHANGELOG.md' or f.startswith(('tests/renames/','tests/fuzz/corpus')) or not os.path.isfile(f): continue
    try: t=open(f,encoding='utf8').read()
    except UnicodeDecodeError: continue
    s=re.sub(r'\b(poet_\w+|POET_\w+)\b',lambda m:api.get(m[1],m[1]),t)
    if f=='debian/libpoet0.symbols':
        h,*r=s.splitlines(True); r2=[x for x in r if x.startswith(' ')]; 
        if len(r2)==len(r): s=h+''.join(sorted(r))
        else: print('symbols not sorted')
    if s!=t: open(f,'w',encoding='utf8').write(s)
mac={p[1]:p[2] for p in (l.split('#')[0].split() for l in open(LIST)) if len(p)==3 and p[0]=='macro'}
for f in ['Makefile']+[x for x in os.popen("git ls-files 'tests/*.t' 'tests/*.sh' 'tests/e2e/*' CONTRIBUTING.md 'docs/*.md'").read().split()]:
    try: t=open(f,encoding='utf8').read()
    except (UnicodeDecodeError,IsADirectoryError): continue
    s=re.sub(r'-D([A-Z_]+)\b(?==)',lambda m:'-D'+mac.get(m[1],m[1]),t)
    if s!=t: open(f,'w',encoding='utf8').write(s); print('flags in',f)
s=open('debian/libpoet0.symbols').read().split('\n')
body=sorted(x for x in s if x.startswith(' ')); it=iter(body)
print('symbols: groups',sum(x.startswith('#') for x in s))
for f in os.popen("git ls-files '*.c' '*.h' '*.cc'").read().split():
    t=open(f,errors='surrogateescape').read()
    local=set(re.findall(r'^[ \t]*#[ \t]*define[ \t]+(\w+)',t,flags=re.M))
    def line(m): return re.sub(r'\b[A-Z_]\w+\b',lambda x: mac[x[0]] if x[0] in mac and x[0] not in local else x[0],m[0])
    s=re.sub(r'^[ \t]*#[ \t]*(?:ifdef|ifndef|if|elif|undef)\b.*$',line,t,flags=re.M)
    if s!=t: open(f,'w',errors='surrogateescape').write(s); print('conditional in',f)
