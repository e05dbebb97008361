"""move.py ROOT PAIRS: moves the files of PAIRS (filemap.py prints them), and what names them: includes, guards,
documents, comments, docs/circles.txt.  The Makefile's lists of words are to be edited by hand."""
import os,re,sys,subprocess,collections
os.chdir(sys.argv[1])
pairs=[l.split() for l in open(sys.argv[2]) if l.strip()]
pairs=[(a,b.replace('clients/cli/web/','clients/cli/html/')) for a,b in pairs]
fm=dict(pairs)
for a,b in pairs:
    os.makedirs(os.path.dirname(b),exist_ok=True)
tmp=[]
for i,(a,b) in enumerate(pairs): # by way of names that none has
    os.rename(a,f'.move{i}')
for i,(a,b) in enumerate(pairs): os.rename(f'.move{i}',b)
dirs={}
for l in open('tests/renames/files.map'):
    if l.startswith('@'): _,a,b=l.split(); dirs[a]=b
dirs['clients/trace/atomics']='clients/libpoet/atomics'; dirs['clients/poet/web']='clients/cli/html'
stems=collections.defaultdict(set)
for a,b in pairs:
    stems[os.path.splitext(a)[0]].add(os.path.splitext(b)[0])
stems={k:v.pop() for k,v in stems.items() if len(v)==1}
# short forms: last directory and file, where only one file has them
short=collections.defaultdict(set)
alln=dict(fm)
for f in subprocess.run(['git','ls-files'],capture_output=True,text=True).stdout.split('\n'):
    if f and f not in alln: alln[f]=f
for a,b in alln.items():
    p=a.split('/')
    if len(p)>2: short['/'.join(p[-2:])].add((a,b))
rx=re.compile(r'(?<![\w/.-])((?:clients|server|memory|wire|config|render)/[\w./-]*)')
def path(m):
    p=m.group(1); tail=''
    while p and p[-1] in './' and p not in fm and p.rstrip('/') not in dirs:
        tail=p[-1]+tail; p=p[:-1]
    if p in fm: return fm[p]+tail
    if p in stems and p not in dirs: return stems[p]+tail
    q=p.rstrip('/'); sl=p[len(q):]
    if q in dirs: return dirs[q]+sl+tail
    d=os.path.dirname(p)
    while d and d not in dirs: d=os.path.dirname(d)
    if d and not p.endswith('.conf'): return dirs[d]+p[len(d):]+tail
    return p+tail
sh=re.compile(r'(?<![\w/.-])([a-z]+/[a-z0-9]+\.[ch])\b')
def shortp(m):
    s=short.get(m.group(1))
    if s and len(s)==1:
        b=next(iter(s))[1]; return '/'.join(b.split('/')[-2:])
    return m.group(1)
guards={}
def g(p): return re.sub(r'\W','_',p).upper()
for a,b in pairs:
    if a.endswith('.h'): guards[g(a)]=g(b)
files=[f for f in subprocess.run(['git','ls-files'],capture_output=True,text=True).stdout.split('\n') if f]
files=[fm.get(f,f) for f in files]
for f in files:
    if f.startswith(('tests/renames/','tests/fuzz/corpus','tests/golden')) or f in('CHANGELOG.md',): continue
    try: t=open(f,encoding='utf8').read()
    except (UnicodeDecodeError,FileNotFoundError,IsADirectoryError): continue
    s=t
    if not f.endswith('.conf') and f!='Makefile': s=rx.sub(path,s); s=sh.sub(shortp,s)
    elif f=='Makefile': s=rx.sub(path,s)
    if f.endswith('.h'):
        s=re.sub(r'^(#\s*(?:ifndef|define)\s+)(\w+_H)\b',lambda m:m.group(1)+guards.get(m.group(2),m.group(2)),s,flags=re.M)
        s=re.sub(r'(#endif\s*/\* )(\w+_H)\b',lambda m:m.group(1)+guards.get(m.group(2),m.group(2)),s)
    if s!=t: open(f,'w',encoding='utf8').write(s)
# circles: stems by room
room=None; out=[]
inv={}
for a,b in pairs: inv[(os.path.dirname(a),os.path.splitext(os.path.basename(a))[0])]=os.path.splitext(os.path.basename(b))[0]
back={v:k for k,v in dirs.items()}
for l in open('docs/circles.txt'):
    m=re.match(r'^([\w/]+): (.*)$',l)
    if m and m.group(1) in back:
        old=back[m.group(1)]
        l=m.group(1)+': '+' '.join(sorted(inv.get((old,w),w) for w in m.group(2).split()))+'\n'
    out.append(l)
open('docs/circles.txt','w').writelines(out)
