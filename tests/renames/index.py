#!/usr/bin/python3
"""index.py ROOT COMMANDS OUT.sqlite

Writes where each function, variable, type, member, enumerator and macro of the project is named, by
libclang (Debian: python3-clang-14).  COMMANDS has one compile command a line, as make -nB V=1 prints
them.  For apply.py."""
import sys, os, re, shlex, sqlite3, multiprocessing, ctypes
from clang.cindex import Index, CursorKind as K, conf, TranslationUnit, Config
Config.set_library_file('/usr/lib/llvm-14/lib/libclang-14.so.1')
root=os.path.realpath(sys.argv[1]); os.chdir(root)
conf.lib.clang_getFileLocation.restype=None
def fileloc(loc):
    f=ctypes.c_void_p(); l=ctypes.c_uint(); c=ctypes.c_uint(); o=ctypes.c_uint()
    from clang.cindex import File, c_object_p
    f=c_object_p()
    conf.lib.clang_getFileLocation(loc, ctypes.byref(f), ctypes.byref(l), ctypes.byref(c), ctypes.byref(o))
    if not f: return None,0,0
    return str(File(f).name), o.value, l.value
def home(r):
    # The file that declares it: of a function the header, of a type where it is defined.
    d=r.canonical if r.kind in (K.FUNCTION_DECL,K.VAR_DECL) else (r.get_definition() or r)
    return rel(fileloc(d.location)[0]) or ''
def rel(p):
    if p is None: return None
    r=os.path.realpath(p)
    return r[len(root)+1:] if r.startswith(root+'/') and '/build/' not in r[len(root):] else None
DECL={K.FUNCTION_DECL:'func',K.VAR_DECL:'var',K.FIELD_DECL:'field',K.ENUM_CONSTANT_DECL:'enumc',K.STRUCT_DECL:'tag',K.UNION_DECL:'tag',K.ENUM_DECL:'tag',K.TYPEDEF_DECL:'typedef',K.MACRO_DEFINITION:'macro'}
REF={K.DECL_REF_EXPR,K.MEMBER_REF_EXPR,K.TYPE_REF,K.MEMBER_REF}
texts={}
def text(p):
    if p not in texts: texts[p]=open(p,'rb').read()
    return texts[p]
def one(cmd):
    args=shlex.split(cmd)
    src=[a for a in args if re.search(r'\.(c|cc|cpp)$',a)][-1]
    flags=[a for a in args[1:] if a.startswith(('-I','-D','-std','-U','-pthread','-fopenmp','-m'))]
    rows=set()
    try:
        tu=Index.create().parse(src,args=flags+['-ferror-limit=0','-w'],options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    except Exception as e:
        return src,[],[str(e)]
    errs=[str(d) for d in tu.diagnostics if d.severity>=3][:3]
    def add(c,r,kind,isdecl):
        p,o,l=fileloc(c.location); p=rel(p)
        if p is None: return
        name=r.spelling
        if not name: return
        t=text(p)
        off=o
        if t[off:off+len(name)]!=name.encode() or (off+len(name)<len(t) and (chr(t[off+len(name)]).isalnum() or t[off+len(name)]==95)):
            # TYPE_REF 'struct x' points at x; MEMBER_REF_EXPR points at the member; else a macro's body
            rows.add((p,-1,l,name,r.get_usr(),kind,isdecl,home(r))); return
        rows.add((p,off,l,name,r.get_usr(),kind,isdecl,home(r)))
    def walk(c):
        st=[c]
        while st:
            c=st.pop()
            k=c.kind
            if k in DECL:
                kind=DECL[k]
                if kind=='var':
                    # file scope or static only
                    if c.semantic_parent and c.semantic_parent.kind==K.TRANSLATION_UNIT: add(c,c,kind,1)
                elif kind=='tag':
                    if c.spelling and '(' not in c.spelling: add(c,c,kind,1)
                else: add(c,c,kind,1)
            elif k in REF:
                r=c.referenced
                if r is not None and r.kind in DECL:
                    kind=DECL[r.kind]
                    if kind!='var' or (r.semantic_parent and r.semantic_parent.kind==K.TRANSLATION_UNIT):
                        rp=rel(fileloc(r.location)[0])
                        if rp: add(c,r,kind,0)
            st.extend(c.get_children())
    for c in tu.cursor.get_children():
        if c.kind==K.INCLUSION_DIRECTIVE: continue
        p=rel(fileloc(c.location)[0])
        if p is None: continue
        if c.kind==K.MACRO_INSTANTIATION:
            r=c.referenced
            if r and rel(fileloc(r.location)[0]): add(c,r,'macro',0)
            continue
        if p.endswith('.h') and not src.endswith('.cc'):
            pass
        walk(c)
    return src,list(rows),errs
if __name__=='__main__':
    cmds=[l.strip() for l in open(sys.argv[2]) if l.strip()]
    db=sqlite3.connect(sys.argv[3]); db.execute('drop table if exists ref')
    db.execute('create table ref(file text,off int,line int,name text,usr text,kind text,decl int,home text,unique(file,off,line,name,usr,kind,decl,home))')
    bad=0
    with multiprocessing.Pool(2) as pool:
        for n,(src,rows,errs) in enumerate(pool.imap_unordered(one,cmds,chunksize=4)):
            db.executemany('insert or ignore into ref values(?,?,?,?,?,?,?,?)',rows)
            if errs: bad+=1; print(src,errs[:2],file=sys.stderr)
            if n%100==0: print(n,len(cmds),flush=True); db.commit()
    db.commit(); print('files',len(cmds),'bad',bad)
