package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const prefix = "PARLEY_"

// otherVariables are not settings of the server but are ours all the same: the
// file's path, what the client commands read, and what tests read.
var otherVariables = []string{"CONFIG", "PROFILE", "URL", "API_KEY", "SOAK", "GOLDEN", "TEST_DATABASE_URL", "TEST_SCREENSHOTS", "TEST_MEASURE"}

// source says where a value came from, in the words Print shows.
type source string

const (
	fromFlag    source = "flag"
	fromEnv     source = "environment"
	fromFile    source = "file"
	fromDefault source = "default"
)

// value is a setting's text, where it came from and what the user called it.
type value struct {
	text   string
	source source
	key    string
}

// find picks the value that counts: flag, environment, file, default.
func (s Setting) find(flags map[string]string, env, file map[string]value) (value, error) {
	if text, ok := flags[s.FlagName()]; ok && s.Flag {
		return value{text, fromFlag, "--" + s.FlagName()}, nil
	}
	for _, from := range []map[string]value{env, file} {
		if v, ok, err := s.lookUp(from); ok || err != nil {
			return v, err
		}
	}
	text := s.Default
	if s.Name == "NODE" {
		text = defaultNode()
	}
	return value{text, fromDefault, prefix + s.Name}, nil
}

// lookUp finds the setting in one source, for a secret also by way of a file.
func (s Setting) lookUp(from map[string]value) (value, bool, error) {
	v, direct := from[s.Name]
	path, indirect := from[s.Name+"_FILE"]
	if !s.Secret || !indirect {
		return v, direct, nil
	}
	if direct {
		return v, false, &Error{path.key, "the secret is given twice; allowed: this or " + v.key}
	}
	b, err := os.ReadFile(path.text)
	if err != nil {
		return v, false, &Error{path.key, fmt.Sprintf("cannot read %s; allowed: the path of a file that holds the secret", quote(path.text))}
	}
	if path.text = strings.TrimRight(string(b), "\r\n"); path.text == "" {
		return v, false, &Error{path.key, "the file is empty; allowed: the path of a file that holds the secret"}
	}
	return path, true, nil
}

// known says whether name is a setting, or the _FILE of a secret.
func known(name string) bool {
	return slices.ContainsFunc(settings, func(s Setting) bool {
		return name == s.Name || s.Secret && name == s.Name+"_FILE"
	})
}

// Known says whether a PARLEY_ variable means anything to any of our programs.
func Known(variable string) bool {
	name, ours := strings.CutPrefix(variable, prefix)
	return ours && (known(name) || slices.Contains(otherVariables, name))
}

// readEnv picks our variables. An empty one counts as not set.
func readEnv(environ []string) (env map[string]value, warnings []string) {
	env = map[string]value{}
	for _, e := range environ {
		key, text, _ := strings.Cut(e, "=")
		name, ours := strings.CutPrefix(key, prefix)
		switch {
		case !ours:
		case !Known(key):
			warnings = append(warnings, fmt.Sprintf("%s is not a setting; the nearest is %s", key, prefix+nearest(name)))
		case text != "":
			env[name] = value{text, fromEnv, key}
		}
	}
	slices.Sort(warnings)
	return env, warnings
}

// listed is a setting with parts of its own, and what it is called.
type listed struct {
	where string
	node  *yaml.Node
}

// readFile reads the YAML file: flat keys with plain values or lists of them, and
// the lists of trunks and engines, by their keys.
func readFile(path string) (map[string]value, map[string]listed, error) {
	root, err := readRoot(path)
	if root == nil || err != nil {
		return nil, nil, err
	}
	return readMapping(filepath.Base(path), root)
}

// readRoot reads the file's one mapping; nil when it is empty.
func readRoot(path string) (*yaml.Node, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		if p, ok := errors.AsType[*os.PathError](err); ok {
			err = p.Err
		}
		return nil, &Error{path, fmt.Sprintf("cannot be read (%v); allowed: the path of a YAML file", err)}
	}
	name := filepath.Base(path)
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil // nothing but comments
	} else if err != nil {
		return nil, &Error{name, strings.ReplaceAll(err.Error(), "\n", " ")}
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Error{name, "holds more than one document; allowed: one"}
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &Error{name, "is not a list of settings; allowed: lines such as http_addr: \":8080\""}
	}
	return root, nil
}

func readMapping(file string, root *yaml.Node) (values map[string]value, lists map[string]listed, err error) {
	values, lists = map[string]value{}, map[string]listed{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		where := fmt.Sprintf("%s line %d: %s", file, k.Line, quoteKey(k.Value))
		name := strings.ToUpper(k.Value)
		if k.Value == trunksKey || k.Value == enginesKey {
			if _, twice := lists[k.Value]; twice {
				return nil, nil, &Error{where, "is given twice; allowed: once"}
			}
			lists[k.Value] = listed{where, v}
			continue
		}
		if k.Value != strings.ToLower(k.Value) || !known(name) {
			return nil, nil, &Error{where, "is not a setting; the nearest is " + strings.ToLower(nearest(strings.TrimPrefix(name, prefix)))}
		}
		if _, twice := values[name]; twice {
			return nil, nil, &Error{where, "is given twice; allowed: once"}
		}
		text, ok := plain(v)
		if !ok {
			return nil, nil, &Error{where, "has parts of its own; allowed: one value, or a list of values"}
		}
		values[name] = value{text, fromFile, where}
	}
	for name, v := range values { // an empty value counts as not set, as in the environment
		if v.text == "" {
			delete(values, name)
		}
	}
	return values, lists, nil
}

// plain is the text of a value; a list becomes what the environment would hold.
func plain(v *yaml.Node) (string, bool) {
	switch v.Kind {
	case yaml.ScalarNode:
		if v.Tag == "!!null" {
			return "", true
		}
		return v.Value, true
	case yaml.SequenceNode:
		var items []string
		for _, item := range v.Content {
			if item.Kind != yaml.ScalarNode {
				return "", false
			}
			items = append(items, item.Value)
		}
		return strings.Join(items, ","), true
	}
	return "", false
}

// nearest is the setting whose name takes the fewest edits to get to.
func nearest(name string) string {
	return slices.MinFunc(settings, func(a, b Setting) int { return distance(name, a.Name) - distance(name, b.Name) }).Name
}

// distance counts insertions, deletions and changes of bytes (Levenshtein).
func distance(a, b string) int {
	if len(a) > 64 {
		a = a[:64] // names come from outside; the answer is "far" anyway
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// show is a value as an error may show it.
func (s Setting) show(text string) string {
	if s.Secret {
		return "this value"
	}
	return quote(text)
}

// quote keeps a value on one short line.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}

func quoteKey(key string) string {
	q := quote(key)
	if q == `"`+key+`"` {
		return key
	}
	return q
}
