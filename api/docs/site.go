package docs

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/asset"
	"parley/api/mcp"
	"parley/api/trunks/preset"
)

//go:embed template page
var templateFiles embed.FS

// site renders the pages.
type site struct {
	assets   *asset.Set
	document *huma.OpenAPI
	options  Options
	content  func() (*content, error) // what pages are made of, read once
}

// content is what all pages share.
type content struct {
	templates  *template.Template // never executed, so that they can be cloned
	examples   map[string]*Example
	operations map[string][]operation // by the name of the page that describes them
	sections   []entry                // of all pages, for the search
	telephone  preset.Server
}

func newSite(document *huma.OpenAPI, assets *asset.Set, o Options) *site {
	s := &site{assets: assets, document: document, options: o}
	s.content = sync.OnceValues(s.read)
	return s
}

func (s *site) read() (*content, error) {
	c := &content{telephone: s.options.Telephone}
	c.telephone.Host = cmp.Or(c.telephone.Host, hereHost)
	var err error
	if c.examples, err = Examples(); err != nil {
		return nil, err
	}
	c.operations = operations(s.document, c.examples)
	c.templates = template.New("docs").Funcs(template.FuncMap{
		"asset":      s.assets.Path,
		"prose":      prose,
		"link":       link,
		"problems":   api.Problems,
		"fieldsOf":   func(label, head string, fields []field) fieldTable { return fieldTable{label, head, fields} },
		"optionsOf":  s.optionsOf,
		"here":       func() string { return hereMark },
		"hereSocket": func() string { return hereSocket },
		"prices":     func() template.HTML { return pricesMark },
		"countries":  func() template.HTML { return countriesMark },
		"presets":    preset.All,
		"tools":      func() []mcp.Listed { return mcp.ToolsOf(s.document) },
		"example":    func(string) (template.HTML, error) { return "", errNoPage },
		"operations": func() (template.HTML, error) { return "", errNoPage },
	})
	if c.templates, err = c.templates.ParseFS(templateFiles, "template/*.html", "page/*.html"); err != nil {
		return nil, err
	}
	c.sections, err = c.index()
	return c, err
}

var errNoPage = errors.New("docs: used outside a page")

func (s *site) explorer() http.Handler {
	return asset.New(explorer, "no-cache", func() ([]byte, error) {
		c, err := s.content()
		if err != nil {
			return nil, err
		}
		t, err := c.templates.Clone()
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = t.ExecuteTemplate(&b, "explorer.html", nil)
		return b.Bytes(), err
	})
}

// view is what the layout of a page shows.
type view struct {
	page
	Pages    []page
	Sections []section
	Body     template.HTML
}

func (s *site) render(p page) ([]byte, error) {
	c, err := s.content()
	if err != nil {
		return nil, err
	}
	body, err := c.body(p)
	if err != nil {
		return nil, err
	}
	t, err := c.templates.Clone()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	linked := heading.ReplaceAllString(body, `<h$1 id="$2">$3<a class="anchor" href="#$2" aria-label="Link to this section"></a></h$1>`)
	err = t.ExecuteTemplate(&b, "layout.html", view{p, pages, sections(body), template.HTML(linked)})
	return b.Bytes(), err
}

// body is the text of a page with its examples and its reference.
func (c *content) body(p page) (string, error) {
	t, err := c.forPage(p)
	if err != nil {
		return "", err
	}
	if name := p.preset(); name != "" {
		return presetBody(t, name, c.telephone)
	}
	var body strings.Builder
	err = t.ExecuteTemplate(&body, p.name+".html", nil)
	return body.String(), err
}

// forPage are the templates with the examples and the reference that a page asks for.
func (c *content) forPage(p page) (*template.Template, error) {
	t, err := c.templates.Clone()
	if err != nil {
		return nil, err
	}
	part := func(name string, data any) (template.HTML, error) {
		var b strings.Builder
		err := t.ExecuteTemplate(&b, name, data)
		return template.HTML(b.String()), err
	}
	return t.Funcs(template.FuncMap{
		"example": func(name string) (template.HTML, error) {
			e, ok := c.examples[name]
			if !ok {
				return "", errors.New("docs: there is no example " + name)
			}
			return part("example.html", e)
		},
		"operations": func() (template.HTML, error) { return part("operations.html", c.operations[p.name]) },
	}), nil
}

// section is a heading that the table of contents points at.
type section struct {
	ID, Title string
	Sub       []section
}

var (
	heading = regexp.MustCompile(`(?s)<h([23]) id="([^"]+)">(.*?)</h[23]>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
)

// sections lists the headings of a page.
func sections(body string) (all []section) {
	for _, m := range heading.FindAllStringSubmatch(body, -1) {
		s := section{ID: m[2], Title: strings.Join(strings.Fields(tag.ReplaceAllString(m[3], " ")), " ")}
		if m[1] == "3" && len(all) > 0 {
			last := &all[len(all)-1]
			last.Sub = append(last.Sub, s)
		} else {
			all = append(all, s)
		}
	}
	return all
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// prose makes HTML of a description in the OpenAPI document, from the little of
// Markdown that descriptions use: empty lines part blocks, a block between fences
// is code, lines that begin with a dash are a list, words between backquotes are
// code.
func prose(text string) template.HTML {
	words := func(s string) string {
		return codeSpan.ReplaceAllString(template.HTMLEscapeString(s), "<code>$1</code>")
	}
	var b strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		switch {
		case block == "":
		case strings.HasPrefix(block, "```"):
			_, code, _ := strings.Cut(block, "\n") // the fence's line names the language
			b.WriteString("<pre tabindex=\"0\"><code>" + template.HTMLEscapeString(strings.TrimSuffix(code, "\n```")) + "</code></pre>\n")
		case strings.HasPrefix(block, "- "):
			b.WriteString("<ul>")
			for item := range strings.SplitSeq(block[2:], "\n- ") {
				b.WriteString("<li>" + words(item) + "</li>")
			}
			b.WriteString("</ul>\n")
		default:
			b.WriteString("<p>" + words(block) + "</p>\n")
		}
	}
	return template.HTML(b.String())
}

// link is the address of a page, by its name.
func link(name string) (string, error) {
	for _, p := range pages {
		if p.name == name {
			return p.path(), nil
		}
	}
	return "", errors.New("docs: there is no page " + name)
}

// optionTable is a table of the options of engines.
type optionTable struct {
	Label   string
	Engines []Engine
}

// optionsOf are those that the operator gives, or an agent.
func (s *site) optionsOf(label string, operators bool) optionTable {
	t := optionTable{Label: label}
	for _, e := range s.options.Engines {
		if e.Operators == operators {
			t.Engines = append(t.Engines, e)
		}
	}
	return t
}

// fieldTable is a table of fields.
type fieldTable struct {
	Label, Head string // of the table and its first column
	Fields      []field
}
