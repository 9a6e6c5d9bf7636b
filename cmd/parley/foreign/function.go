package foreign

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// httpFunction is a function of an agent that asks a service over HTTP.
type httpFunction struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	HTTP        httpRequest     `json:"http"`
}

type httpRequest struct {
	Method    string            `json:"method"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers,omitempty"`
	Query     map[string]string `json:"query,omitempty"`
	Body      any               `json:"body,omitempty"`
	TimeoutMS int               `json:"timeout_ms,omitempty"`
}

// mcpFunctions are the tools of a server of the Model Context Protocol.
type mcpFunctions struct {
	Type string    `json:"type"`
	Name string    `json:"name"`
	MCP  mcpServer `json:"mcp"`
}

type mcpServer struct {
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers,omitempty"`
	TimeoutMS int               `json:"timeout_ms,omitempty"`
}

// clientFunction is one that the client of a conversation runs.
type clientFunction struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	} `json:"function"`
}

// anything is the schema of a function without arguments.
var anything = json.RawMessage(`{"type":"object","properties":{}}`)

var (
	argumentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	notInTool    = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
	// credential are headers whose values are secrets.
	credential = regexp.MustCompile(`(?i)auth|key|token|secret|passw|cookie|signature|credential`)
)

// arguments are the arguments of a function, each as a template of a body names it: {"id": "{id}"}. Not all: one has a name
// that no template can have.
func arguments(schema json.RawMessage) (all map[string]string, templated bool) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // what is no schema has no arguments, and is refused later
	all, templated = map[string]string{}, true
	for name := range s.Properties {
		all[name] = "{" + name + "}"
		templated = templated && argumentName.MatchString(name)
	}
	return all, templated
}

// timeout is how long a request may take, in milliseconds.
func (b *builder) timeout(path string, ms float64) int {
	is := min(max(ms, 100), 30_000)
	if is != ms {
		b.note(path, "is %.0f ms: from 100 to 30000 are allowed", is)
	}
	return int(is)
}

// headers are those of a request, without the secrets in them: these are the account's, and no file has them.
func (b *builder) headers(path string, given map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, at := given[name], path+"."+name
		switch {
		case value == "" || strings.EqualFold(name, "Content-Type"):
			continue // JSON is what is sent
		case credential.MatchString(name):
			scheme, _, spaced := strings.Cut(value, " ")
			secret := strings.Trim(strings.ToUpper(notInName.ReplaceAllString(name, "_")), "_")
			if out[name] = "{{secret." + secret + "}}"; spaced && !strings.Contains(scheme, "{") {
				out[name] = scheme + " " + out[name]
			}
			b.note(at, "its value is a secret: parley secret set %s", secret)
		case strings.Contains(value, "{{"):
			b.note(at, "is left out: headers have no variables")
		default:
			out[name] = value
		}
	}
	return out
}

// query are the parameters of an address that stay the same.
func (b *builder) query(path string, given map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if strings.Contains(given[name], "{{") {
			b.note(path+"."+name, "is left out: addresses have no variables")
			continue
		}
		out[name] = given[name]
	}
	return out
}

// ask adds a function that asks a service. A GET and a DELETE have their arguments in the address.
func (b *builder) ask(path string, f httpFunction) {
	f.Type = "http"
	if len(f.Parameters) == 0 {
		f.Parameters = anything
	}
	if f.HTTP.Method == "GET" || f.HTTP.Method == "DELETE" {
		f.HTTP.Body = nil
		all, templated := arguments(f.Parameters)
		if !templated {
			b.note(path, "has an argument whose name cannot stand in an address")
		}
		if f.HTTP.Query == nil {
			f.HTTP.Query = map[string]string{}
		}
		for name, value := range all {
			if argumentName.MatchString(name) && !strings.Contains(f.HTTP.URL, value) {
				f.HTTP.Query[name] = value
			}
		}
	}
	b.add(path, f)
}

// destination is somebody whom callers are transferred to.
type destination struct {
	Number      string `json:"number"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Warm        bool   `json:"warm,omitempty"`
}

var (
	telephone = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	notDialed = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "")
)

// transfer adds somebody whom callers are transferred to.
func (b *builder) transfer(path string, d destination) {
	const most, longest, described = 32, 60, 200
	d.Number = notDialed.Replace(d.Number)
	before, _ := b.settings["transfer_to"].([]destination)
	short := func(text string, characters int) string {
		text = oneLine(text)
		if r := []rune(text); len(r) > characters {
			text = string(r[:characters])
		}
		return text
	}
	switch {
	case !telephone.MatchString(d.Number):
		b.note(path, "is left out: callers are transferred to telephone numbers, such as +34911234567")
		return
	case len(before) == most:
		b.note(path, "is left out: an agent has %d people to transfer to at most", most)
		return
	}
	full := d.Description
	d.Name, d.Description = short(d.Name, longest), short(d.Description, described)
	if d.Description != strings.TrimSpace(full) {
		b.note(path, "its description is cut, or in one line: say the rest in the prompt")
	}
	for _, other := range before {
		if strings.EqualFold(other.Name, d.Name) && d.Name != "" {
			d.Name = "" // its number names it
		}
	}
	if slices.ContainsFunc(before, func(other destination) bool { return other.Number == d.Number && other.Name == d.Name }) {
		b.note(path, "is left out: the number is there already")
		return
	}
	b.settings["transfer_to"] = append(before, d)
}
