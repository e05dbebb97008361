#!/usr/bin/python3
"""apply.py ROOT DB LIST: renames what LIST says, as index.py found it.  Lines of LIST:
  file PATH OLD NEW    a static function or variable (or tag/typedef/enumerator/macro) declared in PATH
  name OLD NEW         a function or variable that several files see
  tag OLD NEW | tag PATH OLD NEW
  enum OLD NEW, macro OLD NEW, member TAG OLD NEW, typedef OLD NEW
"""
import sys,re,sqlite3,os,collections
root,dbf,lst=sys.argv[1:4]; os.chdir(root)
db=sqlite3.connect(dbf); db.execute('create index if not exists n on ref(name,decl,kind)'); db.execute('create index if not exists u on ref(usr,name)')
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
tagpaths=collections.defaultdict(list)
for l in open(lst):
    p=l.split('#')[0].split()
    if len(p)==4 and p[0]=='tag': tagpaths[p[2]].append(p[1])
uncovered=set()
tagnew={}
for l in open(lst):
    p=l.split('#')[0].split()
    if p and p[0]=='tag': tagnew[(p[1] if len(p)==4 else '',p[-2])]=p[-1]

def program(f): return 'libpoet' if f.startswith('clients/trace/') else f.split('/')[0]
defs=collections.defaultdict(set)
for f in src:
    for t in re.findall(r'\b(?:struct|union|enum)\s+(\w+)\s*\{',alltext[f]): defs[t].add(f)
stem=lambda f: f.rsplit('.',1)[0]
OVER={('chain','server/order/order.h'):'server/order/precedence/chain.c',('chain','server/answer/pairs.c'):'server/order/precedence/chain.c',('header','clients/view/picture/view.h'):'clients/view/header.c',
      ('queue','server/peers/server.h'):'server/intake/queue.h',('stream','server/order/log/pages.h'):'server/order/intake/stream.h',
      ('key','server/peers/server.h'):'wire/key.h',('stream','server/order/state.h'):'server/order/intake/stream.h'}
def tag_home(old,home):
    if (old,home) in OVER: return OVER[old,home]
    # Where a tag is not defined, its home is where it is declared first: by what it is defined then.
    if home in defs[old]: return home
    d=[f for f in defs[old] if program(f)==program(home)]
    for close in (lambda f: stem(f)==stem(home), lambda f: os.path.dirname(f)==os.path.dirname(home), lambda f: True):
        n=[f for f in d if close(f)]
        if len(n)==1: return n[0]
        if n:
            uncovered.add((old,home)+tuple(n)); return None
    if d or not defs[old]: return None
    n=[f for f in defs[old] if f.split('/')[0] in ('wire','config','memory','render','clients') and not f.startswith('clients/trace')]
    if len(n)==1: return n[0]
    uncovered.add((old,home,'none')); return None
def tag_is(path,old,home): return tag_home(old,home)==path or home==path
filed=collections.defaultdict(set)
for l in open(lst):
    p=l.split('#')[0].split()
    if len(p)==4 and p[0]=='file': filed[p[2]].add(p[1])
fdefs={}
def func_home(u,old,home):
    # Which of the programs' functions of one name a header declares.
    if not re.match(r'c:@(F@)?'+old+r'$',u): return home if home.endswith('.c') else None
    if old not in fdefs:
        fdefs[old]=[f for f, in db.execute("select distinct file from ref where name=? and usr=? and decl=1 and file like '%.c'",(old,u)) if not f.startswith('tests/')]
    d=fdefs[old]
    if home in d: return home
    for close in (lambda f: stem(f)==stem(home), lambda f: os.path.dirname(f)==os.path.dirname(home), lambda f: program(f)==program(home)):
        n=[f for f in d if close(f)]
        if len(n)==1: return n[0]
        if n: uncovered.add((old,home)+tuple(n)); return None
    return d[0] if len(d)==1 else None
def take(us,old,new,scope,path=None,kinds=None):
    if not us: oops('not found:',scope,old); return
    n=0
    for u in us:
        for f,off,line,kind,home in db.execute("select file,off,line,kind,home from ref where usr=? and name=?",(u,old)):
            if kinds and kind not in kinds: continue
            if path and scope.startswith('tag') and not tag_is(path,old,OVER.get((old,f),home)): continue
            if path and not scope.startswith('tag') and home!=path and f!=path and func_home(u,old,home)!=path: continue # one of that name that is another's
            if path and not scope.startswith('tag') and f==path and home!=path and func_home(u,old,home) not in (path,None): continue
            if scope.startswith('name') and func_home(u,old,home) in filed[old]: continue
            if off>=0: edits[f][off]=(old,new); n+=1
            elif not scope.startswith('tag'): body['*' if not path else path][old]=new
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
            if k=='macro':
                rows=db.execute("select distinct file,off from ref where name=? and kind='macro'",(old,)).fetchall()
                if not rows: oops('not found:',l.strip())
                for f,off in rows:
                    if off>=0: edits[f][off]=(old,new)
            else: take(usrs([kk],old),old,new,l.strip())
            body['*'][old]=new; prose[old]=new
            if words.get(new): oops(f'{ln}: {new} exists in',sorted(words[new])[:3])
        elif k=='member':
            _,tag,old,new=p
            us={u for u in usrs(['field'],old) if re.search(r'@'+tag+r'@FI@',u)}
            take(us,old,new,l.strip())
        else: oops(f'{ln}: {l.strip()}?')
    except ValueError: oops(f'{ln}: malformed: {l.strip()}')
WORD=re.compile(r'(?<![\w./-])([A-Za-z_]\w*)\b(?!\.[ch]\b|/)')
for w in ('task_run','going_on','complete_bash','complete_zsh','complete_fish'): prose.pop(w,None)
n=0
for f in src:
    t=open(f,'rb').read(); out=bytearray(); at=0
    for off in sorted(edits.get(f,{})):
        old,new=edits[f][off]
        if t[off:off+len(old)]!=old.encode(): oops('stale index',f,off,old); continue
        out+=t[at:off]+new.encode(); at=off+len(old); n+=1
    out+=t[at:]
    s=out.decode('utf8','surrogateescape')
    def tagged(d):
        def one(x):
            home=tag_home(x.group(3),f)
            new=tagnew.get((home,x.group(3))) or tagnew.get(('',x.group(3)))
            return x.group(1)+x.group(2)+new if new else x.group(0)
        return re.sub(r'\b(struct|union|enum)(\s+)(\w+)\b(?!\s*##)',one,d.group(0))
    s=re.sub(r'^[ \t]*#[ \t]*define(?:[^\n\\]|\\.|\\\n)*',tagged,s,flags=re.M)
    m=dict(body.get('*',{})); m.update(body.get(f,{}))
    for local in set(re.findall(r'^[ \t]*#[ \t]*define[ \t]+(\w+)',s,flags=re.M)): m.pop(local,None) # it was not renamed
    for d in re.findall(r'^[ \t]*#[ \t]*define(?:[^\n\\]|\\.|\\\n)*',s,flags=re.M):
        for w in set(re.findall(r'(?<![\w.>])([A-Za-z_]\w*)\b',re.sub(r'/\*.*?\*/|"[^"]*"','',d,flags=re.S))):
            if '_' not in w and w in m: print('in a macro of',f,':',w,m[w])
    if m:
        rx=re.compile(r'(?<![\w.>])([A-Za-z_]\w*)\b')
        parts=re.compile(r'/\*.*?\*/|"(?:[^"\\]|\\.)*"|(?:(?!/\*)[^"])+|"|/',re.S)
        def inbody(d): return ''.join(x if x[0]=='"' or x[:2]=='/*' else rx.sub(lambda y:m.get(y.group(1),y.group(1)),x) for x in parts.findall(d.group(0)))
        s=re.sub(r'^[ \t]*#[ \t]*define(?:[^\n\\]|\\.|\\\n)*',inbody,s,flags=re.M)
    s=re.sub(r'^([ \t]*#[ \t]*pragma[ \t]+weak[ \t]+)(\w+)',lambda x:x.group(1)+m.get(x.group(2),x.group(2)),s,flags=re.M)
    if prose:
        pr=WORD
        s=re.sub(r'/\*.*?\*/|//[^\n]*',lambda c:pr.sub(lambda x:prose.get(x.group(1),x.group(1)) if '_' in x.group(1) else x.group(1),c.group(0)),s,flags=re.S)
    b=s.encode('utf8','surrogateescape')
    if b!=t: open(f,'wb').write(b)

def elsewhere(f,t):
    if f.startswith('tests/renames'): keep=lambda w: False
    elif f.endswith(('.md','.txt')): keep=lambda w: '_' in w
    elif '#include "wire/' in t: keep=lambda w: '_' in w
    else: keep=lambda w: w.startswith(('poet_','POET_'))
    return keep
if prose:
    for f in files:
        if re.search(r'\.(md|txt|sh|pl|t|py|map|cc|cpp|hpp)$',f) or f=='Makefile':
            if not os.path.isfile(f) or f=='CHANGELOG.md' or f.startswith('tests/renames/'): continue
            t=open(f,encoding='utf8',errors='surrogateescape').read(); keep=elsewhere(f,t)
            m={o:n for o,n in prose.items() if keep(o)}
            if not m: continue
            pr=re.compile(r'\b([A-Za-z_]\w*)\b') if f.endswith('.py') else WORD
            s=pr.sub(lambda x:m.get(x.group(1),x.group(1)),t)
            if s!=t: open(f,'w',encoding='utf8',errors='surrogateescape').write(s)
for u in sorted(uncovered): print('tag without entry at its home:',*u)
print(n,'edits',problems,'problems')
