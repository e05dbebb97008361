#!/usr/bin/python3
# filemap.py ROOT files.map: prints "old new" for every file that moves; checks that no two meet
import sys,os,re,collections
os.chdir(sys.argv[1]); files=os.popen("git ls-files").read().split()
m={};dirs={};cur=None
for l in open(sys.argv[2]):
    l=l.strip()
    if not l: continue
    if l[0]=='@':
        _,a,b=l.split(); cur=a; dirs[a]=b; m[a]={}
    else:
        for w in l.split():
            o,n=w.split('>'); m[cur][o]=n
out=[]
used=set()
for f in files:
    d,b=os.path.split(f)
    if d not in dirs:
        p=d
        while p and p not in dirs: p=os.path.dirname(p)
        if p and p not in('config','render','server','wire') and dirs[p]!=p:
            out.append((f,dirs[p]+f[len(p):]))
        continue
    stem,ext=os.path.splitext(b)
    if ext in('.c','.h') and stem in m[d]:
        n=m[d][stem]; used.add((d,stem))
        new=(n[1:] if n[0]=='/' else dirs[d]+'/'+n)+ext
    else: new=dirs[d]+'/'+b
    if f!=new: out.append((f,new))
for d in m:
    for s in m[d]:
        if (d,s) not in used: print('no such',d,s,file=sys.stderr)
st=collections.defaultdict(set)
allnew={f:f for f in files}; allnew.update(dict(out))
seen=collections.Counter(allnew.values())
for k,v in seen.items():
    if v>1: print('clash',k,file=sys.stderr)
for f,n in allnew.items():
    if n.endswith(('.c','.h')) and not n.startswith('tests/') and not n.startswith('examples/'):
        st[os.path.splitext(os.path.basename(n))[0]].add(os.path.dirname(n))
dup={k:v for k,v in st.items() if len(v)>1}
print(len(dup),'stems in several:',' '.join(sorted(dup)),file=sys.stderr)
for a,b in out: print(a,b)
