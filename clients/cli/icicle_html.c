#include "clients/cli/icicle_html.h"

#include "clients/cli/output_format.h"
#include "clients/metadata/icicle_layout.h"

#include <inttypes.h>

static const char style[] =
    "body{font:14px sans-serif;margin:1em;background:#fff;color:#222}"
    "h1{font-size:1.2em}#find{width:20em}#graph{position:relative;margin-top:.6em}"
    "#graph div{position:absolute;height:18px;line-height:18px;overflow:hidden;white-space:nowrap;"
    "font-size:12px;box-sizing:border-box;border:1px solid #fff;padding-left:2px;cursor:pointer}"
    "#graph .found{background:#b5179e!important;color:#fff}#graph .above{opacity:.6}"
    "@media(prefers-color-scheme:dark){body{background:#222;color:#eee}"
    "#graph div{border-color:#222;color:#111}}";

/* The boxes of the displayed node: that and what is below it, and above it all that contain it. */
static const char script[] =
    "const $=id=>document.getElementById(id);let at=0;"
    "const part=n=>n.x/Math.max(n.s,n.s-n.x,1);"
    "const hue=n=>D?'hsl('+(n.x>0?0:220)+' '+Math.round(Math.abs(part(n))*85)+'% '+"
    "Math.round(90-Math.abs(part(n))*30)+'%)':'hsl('+(n.g*47%360)+' 60% 78%)';"
    "const said=n=>n.n+'\\n'+n.a+', '+(100*n.s/N[0].s).toFixed(1)+' % of all'+"
    "(D&&n.c?'\\n'+n.c+' compared with the other run':'');"
    "function place(){const g=$('graph'),w=g.clientWidth,text=$('find').value.toLowerCase();"
    "g.textContent='';let rows=0,found=0;const left=[],used=[];"
    "N.forEach((n,i)=>{const above=i<at&&n.e>at,within=i>=at&&i<N[at].e;"
    "const hit=text&&n.n.toLowerCase().includes(text);"
    "if(hit){let p=i;do p=p?N[p].p:0;while(p&&!N[p].n.toLowerCase().includes(text));"
    "if(i===0||p===0&&!N[0].n.toLowerCase().includes(text))found+=n.s}"
    "if(!above&&!within)return;"
    "left[i]=above||i===at?0:left[n.p]+(used[n.p]||0);"
    "if(i>at)used[n.p]=(used[n.p]||0)+n.s;"
    "const wide=above?w:w*n.s/N[at].s;if(wide<.5)return;"
    "const d=document.createElement('div');d.textContent=n.n;"
    "d.title=said(n);"
    "d.style.left=w*left[i]/N[at].s+'px';d.style.top=n.d*19+'px';d.style.width=wide+'px';"
    "d.style.background=hue(n);d.className=(hit?'found ':'')+(above?'above':'');"
    "d.onclick=()=>{at=i;place()};g.append(d);rows=Math.max(rows,n.d+1)});"
    "g.style.height=rows*19+'px';"
    "$('share').textContent=text?(100*found/N[0].s).toFixed(1)+' % of all':''}"
    "$('find').oninput=place;onresize=place;place();";

static void icicle_html_text(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        default:
            fputc(*text, f);
        }
}

/* Writes a text as a string of a script, in which no tag can end. */
static void icicle_html_string(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\' || *text == '<')
            fprintf(f, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            fputc(*text, f);
    fputc('"', f);
}

void icicle_html_write(const void *layout, FILE *f)
{
    const struct icicle_layout *boxes = layout;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n<title>",
          f);
    icicle_html_text(f, boxes->title);
    fprintf(f, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
    icicle_html_text(f, boxes->title);
    fputs("</h1>\n<label>Search: <input id=\"find\" type=\"search\"></label> "
          "<output id=\"share\"></output>\n<div id=\"graph\"></div>\n",
          f);
    if (boxes->differs)
        fputs("<p>Red: more than in the other run; blue: less; the stronger the color, the "
              "more.</p>\n",
              f);
    for (uint32_t i = 0; i < boxes->note_count; i++) {
        fputs("<p>", f);
        icicle_html_text(f, boxes->notes[i]);
        fputs("</p>\n", f);
    }
    fprintf(f, "<script>\nconst D=%d,N=[\n", boxes->differs);
    for (uint32_t i = 0; i < boxes->count; i++) {
        const struct icicle_node *n = &boxes->nodes[i];
        fputs("{n:", f);
        icicle_html_string(f, n->name);
        fputs(",a:", f);
        icicle_html_string(f, n->amount ? n->amount : "");
        fputs(",c:", f);
        icicle_html_string(f, n->change_text ? n->change_text : "");
        fprintf(f, ",s:%" PRId64 ",x:%" PRId64 ",p:%u,e:%u,d:%u,g:%u},\n", n->size, n->change,
                n->parent, n->end, (unsigned)n->depth, n->group);
    }
    fprintf(f, "];\n%s\n</script>\n</body>\n</html>\n", script);
}
