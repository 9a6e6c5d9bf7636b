package page

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// views are the templates, one set for each page: the layout, the parts that all pages
// may use, and the page's own file.
type views struct{ pages map[string]*template.Template }

func newViews(all fs.FS, asset func(name string) string) *views {
	base := template.Must(template.New("").Funcs(functions(asset)).ParseFS(all, "template/*.html", "template/part/*.html"))
	v := &views{map[string]*template.Template{}}
	files, err := fs.ReadDir(all, "template/page")
	if err != nil {
		panic("page: " + err.Error()) // the compiler has embedded them
	}
	for _, f := range files {
		t := template.Must(template.Must(base.Clone()).ParseFS(all, "template/page/"+f.Name()))
		v.pages[strings.TrimSuffix(f.Name(), path.Ext(f.Name()))] = t
	}
	return v
}

// write answers with a template of a page.
func (v *views) write(w http.ResponseWriter, code int, page, name string, data any) error {
	t := v.pages[page]
	if t == nil {
		return fmt.Errorf("page: there is no template for the page %s", page)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "HX-Request")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the client has gone
	return nil
}

// functions are what templates may call.
func functions(asset func(name string) string) template.FuncMap {
	return template.FuncMap{
		"asset":   asset,
		"usd":     USD,
		"exact":   Exact,
		"when":    when,
		"moment":  moment,
		"seconds": duration,
		"plural":  plural,
		"path":    Path,
		"field":   func(f *Form, name, label string, options ...string) Field { return f.Field(name, label, options...) },
		"join":    strings.Join,
	}
}
