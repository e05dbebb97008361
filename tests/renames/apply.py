#!/usr/bin/python3
"""apply.py ROOT DB LIST: renames what LIST says, as index.py found it.  Lines of LIST:
  file PATH OLD NEW    a static function or variable (or tag/typedef/enumerator/macro) declared in PATH
  name OLD NEW         a function or variable that several files see
  tag OLD NEW | tag PATH OLD NEW
  enum OLD NEW, macro OLD NEW, member TAG OLD NEW, typedef OLD NEW
"""
import sys,re,sqlite3,os,collections
root,dbf,lst=sys.argv[1:4]; os.chdir(root)
db=sqlite3.connect(dbf)
edits=collections.defaultdict(dict)   # file -> off -> (old,new)
body=collections.defaultdict(dict)    # file or '*' -> old -> new (in macro bodies)
prose={}                              # old -> new everywhere in comments and documents
problems=0
def oops(*a):
    global problems; problems+=1; print(*a,file=sys.stderr)
alltext={}
files=os.popen("git ls-files").read().split('\n')[:-1]
src=[f for f in files if re.search(r'\.(c|h|cc|cpp)$',f)]
for f in src: alltext[f]=open(f,'rb').read().decode('utf8','surrogateescape')
words=collections.defaultdict(set)
for f in src:
    for w in set(re.findall(r'\b[A-Za-z_]\w*\b',alltext[f])): words[w].add(f)
def usrs(kind,name,path=None):
    q="select distinct usr,file from ref where name=? and decl=1"
    a=[name]
    if kind: q+=" and kind in (%s)"%','.join('?'*len(kind)); a+=kind
    r=db.execute(q,a).fetchall()
    if path: r=[x for x in r if x[1]==path]
    return {u for u,_ in r}
def take(us,old,new,scope,path=None,kinds=None):
    if not us: oops('not found:',scope,old); return
    n=0
    for u in us:
        for f,off,line,kind,home in db.execute("select file,off,line,kind,home from ref where usr=? and name=?",(u,old)):
            if kinds and kind not in kinds: continue
            if path and home!=path and f!=path: continue # one of that name that is another's
            if off>=0: edits[f][off]=(old,new); n+=1
            else: body['*' if not path else path][old]=new
    return n
for ln,l in enumerate(open(lst),1):
    p=l.split('#')[0].split()
    if not p: continue
    try:
        k=p[0]
        if k=='file':
            _,path,old,new=p
            for kinds in (['func','var'],['enumc','macro','typedef']):
                us=usrs(kinds,old,path)
                if us: break
            take(us,old,new,l.strip(),path,kinds); body[path][old]=new
            clash=[f for f in words.get(new,()) if f==path]
            if clash: oops(f'{ln}: {new} exists in {path}')
        elif k=='name':
            _,old,new=p; take(usrs(['func','var'],old),old,new,l.strip()); body['*'][old]=new
            if '_' in old: prose[old]=new
            if words.get(new): oops(f'{ln}: {new} exists in',sorted(words[new])[:3])
        elif k=='tag':
            if len(p)==4:
                _,path,old,new=p; take(usrs(['tag'],old,path),old,new,l.strip(),path)
            else:
                _,old,new=p; take(usrs(['tag'],old),old,new,l.strip())
        elif k in('enum','macro','typedef'):
            _,old,new=p; kk={'enum':'enumc','macro':'macro','typedef':'typedef'}[k]
            take(usrs([kk],old),old,new,l.strip()); body['*'][old]=new; prose[old]=new
            if words.get(new): oops(f'{ln}: {new} exists in',sorted(words[new])[:3])
        elif k=='member':
            _,tag,old,new=p
            us={u for u in usrs(['field'],old) if re.search(r'@'+tag+r'@FI@',u)}
            take(us,old,new,l.strip())
        else: oops(f'{ln}: {l.strip()}?')
    except ValueError: oops(f'{ln}: malformed: {l.strip()}')
n=0
for f in src:
    t=open(f,'rb').read(); out=bytearray(); at=0
    for off in sorted(edits.get(f,{})):
        old,new=edits[f][off]
        if t[off:off+len(old)]!=old.encode(): oops('stale index',f,off,old); continue
        out+=t[at:off]+new.encode(); at=off+len(old); n+=1
    out+=t[at:]
    s=out.decode('utf8','surrogateescape')
    m=dict(body.get('*',{})); m.update(body.get(f,{}))
    if m:
        rx=re.compile(r'(?<![\w.>])('+'|'.join(map(re.escape,sorted(m,key=len,reverse=True)))+r')\b')
        def inbody(d): return rx.sub(lambda x:m[x.group(1)],d.group(0))
        s=re.sub(r'^[ \t]*#[ \t]*define(?:[^\n\\]|\\.|\\\n)*',inbody,s,flags=re.M)
    if prose:
        pr=re.compile(r'\b('+'|'.join(map(re.escape,sorted(prose,key=len,reverse=True)))+r')\b')
        s=re.sub(r'/\*.*?\*/|//[^\n]*',lambda c:pr.sub(lambda x:prose[x.group(1)],c.group(0)),s,flags=re.S)
    b=s.encode('utf8','surrogateescape')
    if b!=t: open(f,'wb').write(b)
if prose:
    pr=re.compile(r'\b('+'|'.join(map(re.escape,sorted(prose,key=len,reverse=True)))+r')\b')
    for f in files:
        if re.search(r'\.(md|txt|sh|pl|t|py|1|5)$',f) or f=='Makefile':
            if not os.path.isfile(f): continue
            t=open(f,encoding='utf8',errors='surrogateescape').read(); s=pr.sub(lambda x:prose[x.group(1)],t)
            if s!=t: open(f,'w',encoding='utf8',errors='surrogateescape').write(s)
print(n,'edits',problems,'problems')
