package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/inference"
	"parley/pipeline/schema"
)

// Kind is who runs a function, or a list of them.
type Kind string

// The kinds, as a definition's "type" names them.
const (
	Client    Kind = "function"   // the client of the conversation
	HTTPKind  Kind = "http"       // a request to the account's own service
	MCPKind   Kind = "mcp"        // the tools of a server of the Model Context Protocol
	Search    Kind = "web_search" // a search of the web
	CRMKind   Kind = "crm"        // looking callers up in a customer database, and logging calls there
	kindNames      = "function, http, mcp, web_search and crm"
)

// Definition is one entry of an agent's list of functions, checked.
type Definition struct {
	Kind Kind
	// Spec describes it to the model; of MCP, whose servers describe their tools
	// themselves, it has the name alone.
	Spec inference.Tool
	// Cancel says that it is given up when the caller interrupts.
	Cancel bool
	HTTP   *HTTP      // of HTTPKind
	MCP    *MCP       // of MCPKind
	CRM    *CRMSource // of CRMKind
}

// form is a definition as it is written.
type form struct {
	Type     Kind `json:"type"`
	Function *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	OnInterrupt string          `json:"on_interrupt"`
	HTTP        *HTTP           `json:"http"`
	MCP         *MCP            `json:"mcp"`
	CRM         *CRMSource      `json:"crm"`
}

// Bounds of a list.
const (
	maxFunctions   = 64
	maxDescription = 4 << 10 // bytes
)

var (
	functionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	sourceName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,24}$`) // leaves room for the names of its tools
)

// reserved are names that stand for something already: those of the conversation itself
// and of this package.
var reserved = []string{"end_call", "transfer_call", "hand_over", "next_step", "send_dtmf", "collect_digits", SendSMS, "opt_out", searchName, lookupName}

// fault says what is wrong where: its text begins with the path of the field.
func fault(path, format string, args ...any) error {
	return schema.Mistake{Path: path, Problem: fmt.Sprintf(format, args...)}
}

// Parse reads an agent's list of functions, a JSON array; empty or null is none.
// The error is one sentence that begins with the path of the field that is wrong,
// such as "tools[2].http.url".
func Parse(raw json.RawMessage) ([]Definition, error) {
	defs, wrong := parse(raw, nil)
	if len(wrong) > 0 {
		return nil, wrong[0]
	}
	return defs, nil
}

// Mistakes is all that Parse would refuse, one of each function, and what it takes though
// it is of no use, such as an address to which g lets no request go; nil: it may be any.
func Mistakes(raw json.RawMessage, g *Guard) schema.Mistakes {
	_, wrong := parse(raw, func(path string, d *Definition) error { return d.useless(path, g) })
	return wrong
}

// parse reads a list of functions. further finds more that is wrong with one; nil: nothing.
func parse(raw json.RawMessage, further func(path string, d *Definition) error) (defs []Definition, wrong schema.Mistakes) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, schema.Mistakes{{Path: "tools", Problem: "must be a list of functions"}}
	}
	if len(list) > maxFunctions {
		return nil, schema.Mistakes{{Path: "tools", Problem: fmt.Sprintf("more than %d", maxFunctions)}}
	}
	defs = make([]Definition, 0, len(list))
	seen := map[string]bool{}
	for i, one := range list {
		path := fmt.Sprintf("tools[%d]", i)
		d, err := parseOne(path, one)
		if at, ok := errors.AsType[schema.Mistake](err); ok {
			wrong = append(wrong, at)
			continue
		}
		if err != nil {
			wrong.Add(path, "%v", err)
			continue
		}
		if further != nil {
			if at, ok := errors.AsType[schema.Mistake](further(path, &d)); ok {
				wrong = append(wrong, at)
				continue
			}
		}
		if seen[d.Spec.Name] {
			wrong.Add(path, "the name %s is taken", d.Spec.Name)
			continue
		}
		seen[d.Spec.Name] = true
		defs = append(defs, d)
	}
	return defs, wrong
}

func parseOne(path string, raw json.RawMessage) (Definition, error) {
	var kind struct {
		Type *Kind `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil || kind.Type == nil {
		return Definition{}, fault(path+".type", "must be one of %s", kindNames)
	}
	var f form
	if err := decode(path, raw, &f, *kind.Type == Client); err != nil {
		return Definition{}, err
	}
	if f.Type != Client {
		err := f.without(path, member{"function", f.Function != nil}, member{"http", f.HTTP != nil && f.Type != HTTPKind},
			member{"mcp", f.MCP != nil && f.Type != MCPKind}, member{"crm", f.CRM != nil && f.Type != CRMKind})
		if err != nil {
			return Definition{}, err
		}
	}
	switch f.Type {
	case Client:
		return f.client(path)
	case HTTPKind:
		return f.http(path)
	case MCPKind:
		return f.mcp(path)
	case Search:
		return Definition{Kind: Search, Spec: searchSpec, Cancel: true}, f.bare(path)
	case CRMKind:
		return f.crm(path)
	}
	return Definition{}, fault(path+".type", "must be one of %s", kindNames)
}

// decode reads a definition. Functions of clients may say more than we know of.
func decode(path string, raw json.RawMessage, f *form, lenient bool) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if !lenient {
		d.DisallowUnknownFields()
	}
	err := d.Decode(f)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field != "" {
			path += "." + wrong.Field
		}
		return fault(path, "cannot be a JSON %s", wrong.Value)
	}
	if err != nil {
		return fault(unknownField(path, raw, err), "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// unknownField is the path of a field that decode does not know: its error has the name
// alone. Of several of that name it is one within the request, the server or the database.
func unknownField(path string, raw json.RawMessage, err error) string {
	quoted, is := strings.CutPrefix(err.Error(), "json: unknown field ")
	name, bad := strconv.Unquote(quoted)
	var top map[string]json.RawMessage
	if !is || bad != nil || json.Unmarshal(raw, &top) != nil {
		return path
	}
	for _, part := range []string{"http", "mcp", "crm"} {
		var inner map[string]json.RawMessage
		if json.Unmarshal(top[part], &inner) == nil && inner[name] != nil {
			return path + "." + part + "." + name
		}
	}
	return path + "." + name
}

func (f *form) client(path string) (Definition, error) {
	if f.Function == nil || !functionName.MatchString(f.Function.Name) {
		return Definition{}, fault(path+".function.name", "must be 1 to 64 letters, digits, _ and -")
	}
	if p := f.Function.Parameters; len(p) > 0 && !isObject(p) {
		return Definition{}, fault(path+".function.parameters", "must be a JSON Schema object")
	}
	return Definition{Kind: Client, Spec: inference.Tool{Name: f.Function.Name, Description: f.Function.Description, Parameters: f.Function.Parameters}}, nil
}

// useless says what about a function would have it never be called. Its author
// gets it as an error; a stored one is skipped, and the others stay.
func (d *Definition) useless(path string, g *Guard) error {
	switch {
	case d.Kind == Client && slices.Contains(reserved, d.Spec.Name):
		return fault(path+".function.name", "%s is taken", d.Spec.Name)
	case d.Kind == Client:
		return checkSchema(path+".function.parameters", d.Spec.Parameters)
	case d.Kind == HTTPKind:
		if err := checkSchema(path+".parameters", d.Spec.Parameters); err != nil {
			return err
		}
		return g.literal(path+".http.url", d.HTTP.URL)
	case d.Kind == MCPKind:
		return g.literal(path+".mcp.url", d.MCP.URL)
	case d.Kind == CRMKind:
		return g.literal(path+".crm.url", d.CRM.URL)
	}
	return nil
}

// bare refuses what only functions with a definition of their own have.
func (f *form) bare(path string) error {
	return f.without(path, member{"name", f.Name != ""}, member{"description", f.Description != ""}, member{"parameters", f.Parameters != nil},
		member{"on_interrupt", f.OnInterrupt != ""})
}

// member is a member of a definition, and whether it is there.
type member struct {
	name  string
	there bool
}

// without refuses the first member that is there though it is for other types.
func (f *form) without(path string, members ...member) error {
	for _, m := range members {
		if m.there {
			return fault(path+"."+m.name, "is not for the type %s", f.Type)
		}
	}
	return nil
}

// cancels reads on_interrupt.
func (f *form) cancels(path string, otherwise bool) (bool, error) {
	switch f.OnInterrupt {
	case "":
		return otherwise, nil
	case "continue":
		return false, nil
	case "cancel":
		return true, nil
	}
	return false, fault(path+".on_interrupt", "must be continue or cancel")
}

func (f *form) http(path string) (Definition, error) {
	switch {
	case !functionName.MatchString(f.Name):
		return Definition{}, fault(path+".name", "must be 1 to 64 letters, digits, _ and -")
	case slices.Contains(reserved, f.Name):
		return Definition{}, fault(path+".name", "%s is taken", f.Name)
	case len(f.Description) > maxDescription:
		return Definition{}, fault(path+".description", "more than %d bytes", maxDescription)
	case f.HTTP == nil:
		return Definition{}, fault(path+".http", "is missing")
	}
	schema, err := parameters(path+".parameters", f.Parameters)
	if err != nil {
		return Definition{}, err
	}
	if err := f.HTTP.check(path+".http", schema); err != nil {
		return Definition{}, err
	}
	d := Definition{Kind: HTTPKind, HTTP: f.HTTP, Spec: inference.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters}}
	d.Cancel, err = f.cancels(path, f.HTTP.Method == "GET")
	return d, err
}

// maxSchema bounds the schema of a function's arguments, in bytes.
const maxSchema = 16 << 10

// parameters reads and resolves the schema of a function's arguments; empty: any
// object.
func parameters(path string, raw json.RawMessage) (*jsonschema.Resolved, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	if len(raw) > maxSchema {
		return nil, fault(path, "more than %d bytes", maxSchema)
	}
	var s jsonschema.Schema
	if !isObject(raw) {
		return nil, fault(path, "must be a JSON Schema object")
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fault(path, "is no JSON Schema: %s", oneLine(err))
	}
	if s.Type != "object" {
		return nil, fault(path+".type", "must be object")
	}
	r, err := s.Resolve(nil)
	if err != nil {
		if err := checkSchema(path, raw); err != nil {
			return nil, err // it knows the place
		}
		return nil, fault(path, "is no JSON Schema: %s", oneLine(err))
	}
	return r, nil
}

// types are those of JSON Schema (2020-12, validation, section 6.1.1).
var types = []string{"object", "array", "string", "integer", "number", "boolean", "null"}

// checkSchema finds what the library takes though no argument could obey it, types that
// there are not, and patterns that cannot be read, of which it does not say where they are.
func checkSchema(path string, raw json.RawMessage) error {
	var s struct {
		Type       any                        `json:"type"`
		Pattern    *string                    `json:"pattern"`
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	if json.Unmarshal(raw, &s) != nil {
		return nil // true or false, or the library says what is wrong
	}
	named, list := s.Type.([]any)
	if !list && s.Type != nil {
		named = []any{s.Type}
	}
	for _, t := range named {
		if name, text := t.(string); !text || !slices.Contains(types, name) {
			return fault(path+".type", "must be one of %s", strings.Join(types, ", "))
		}
	}
	if s.Pattern != nil {
		if _, err := regexp.Compile(*s.Pattern); err != nil {
			return fault(path+".pattern", "is no pattern: %s", oneLine(err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if err := checkSchema(path+".properties."+name, s.Properties[name]); err != nil {
			return err
		}
	}
	if len(s.Items) > 0 {
		return checkSchema(path+".items", s.Items)
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	return json.Valid(raw) && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{"))
}

// oneLine is an error's text in one line of bounded length.
func oneLine(err error) string { return Clip(strings.Join(strings.Fields(err.Error()), " "), 300) }

// Clip cuts text to at most n bytes, between characters.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// arguments reads what the model wrote and holds it to the function's schema.
func arguments(raw json.RawMessage, schema *jsonschema.Resolved) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	var args map[string]any
	if err := json.Unmarshal(raw, &args); err != nil || args == nil {
		return nil, errors.New("the arguments are not a JSON object")
	}
	if err := schema.Validate(args); err != nil {
		return nil, fmt.Errorf("the arguments are not as the function wants them: %s", oneLine(err))
	}
	return args, nil
}
