// Package starter has templates of agents: documents for common tasks that people begin with, in
// the dashboard and by the command line. They are files as parley agent push takes them.
package starter

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"parley/api/wire"
)

//go:embed agents/*.yaml
var files embed.FS

// Template is an agent to begin with.
type Template struct {
	Name    string // by which it is chosen, such as order-status
	Title   string // for people
	Summary string // what the agent does, a sentence without an agent
	Text    string // the document, YAML, as its author wrote it but for the first line
}

// order is how they are listed.
var order = []string{"receptionist", "appointments", "support", "leads", "order-status", "after-hours"}

// Templates are all of them, the most general first.
func Templates() []Template {
	out := make([]Template, 0, len(order))
	for _, name := range order {
		text, err := fs.ReadFile(files, path.Join("agents", name+".yaml"))
		if err != nil {
			panic("starter: " + err.Error()) // the compiler has embedded it
		}
		about, document, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		title, summary, _ := strings.Cut(about, ": ")
		out = append(out, Template{name, title, strings.ToUpper(summary[:1]) + summary[1:], document})
	}
	return out
}

// Named is the template of that name; not ok: there is none.
func Named(name string) (t Template, ok bool) {
	all := Templates()
	i := slices.IndexFunc(all, func(t Template) bool { return t.Name == name })
	if i < 0 {
		return Template{}, false
	}
	return all[i], true
}

// Names are those of all templates, in their order.
func Names() []string { return slices.Clone(order) }

// Document is the agent as JSON.
func (t *Template) Document() (json.RawMessage, error) { return wire.FromYAML(t.Text) }
