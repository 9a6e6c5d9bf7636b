package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds how deep a document goes.
const maxDepth = 64

// YAML writes a JSON value as people edit it: in blocks, texts of several lines as they
// read, members in the order in which they stand.
func YAML(text json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	node, err := nodeOf(d, maxDepth)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(node); err != nil {
		return "", err
	}
	return b.String(), e.Close()
}

// nodeOf reads the next value of d.
func nodeOf(d *json.Decoder, depth int) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth == 0 {
		return nil, errDeep
	}
	switch v := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.MappingNode}
		if v == '[' {
			node.Kind = yaml.SequenceNode
		}
		for d.More() { // names are tokens like other texts
			part, err := nodeOf(d, depth-1)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, part)
		}
		if len(node.Content) == 0 {
			node.Style = yaml.FlowStyle
		}
		_, err := d.Token()
		return node, err
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}, nil
	case string:
		node := &yaml.Node{}
		node.SetString(v)
		return node, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

var (
	errDeep  = errors.New("it is nested too deeply")
	errAlias = errors.New("anchors and aliases are not taken; write it out")
)

// FromYAML reads YAML, of which JSON is a part, as JSON whose members stand in the same
// order. Its errors are sentences for the author. An empty text is null.
func FromYAML(text string) (json.RawMessage, error) {
	if json.Valid([]byte(text)) { // YAML has no pairs of escapes for what is beyond 16 bits
		return json.RawMessage(text), nil
	}
	d := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return json.RawMessage("null"), nil
	case err != nil:
		return nil, yamlFault(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document")
	}
	var b bytes.Buffer
	if len(doc.Content) == 0 {
		return json.RawMessage("null"), nil
	}
	if err := writeNode(&b, doc.Content[0], maxDepth); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s*)?(?:line (\d+): )?(?s:(.*))$`)

// yamlFault is what the parser complains about, in our form.
func yamlFault(err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil || m[1] == "" {
		return errors.New("this is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return fmt.Errorf("line %s: %s", m[1], m[2])
}

func writeNode(b *bytes.Buffer, n *yaml.Node, depth int) error {
	switch {
	case depth == 0:
		return errDeep
	case n.Kind == yaml.AliasNode, n.Anchor != "":
		return fmt.Errorf("line %d: %w", n.Line, errAlias)
	case n.Kind == yaml.ScalarNode:
		return writeScalar(b, n)
	}
	object := n.Kind == yaml.MappingNode
	open, end := byte('['), byte(']')
	if object {
		open, end = '{', '}'
	}
	b.WriteByte(open)
	seen := map[string]bool{}
	for i, part := range n.Content {
		name := object && i%2 == 0
		switch {
		case name && part.Kind != yaml.ScalarNode:
			return fmt.Errorf("line %d: a name must be a text", part.Line)
		case name && seen[part.Value]:
			return fmt.Errorf("line %d: %q is there twice", part.Line, part.Value)
		case name:
			seen[part.Value] = true
			part = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: part.Value, Line: part.Line, Anchor: part.Anchor}
		}
		if i > 0 {
			if object && !name {
				b.WriteByte(':')
			} else {
				b.WriteByte(',')
			}
		}
		if err := writeNode(b, part, depth-1); err != nil {
			return err
		}
	}
	b.WriteByte(end)
	return nil
}

// writeScalar writes what JSON has no other word for as a text, such as a date.
func writeScalar(b *bytes.Buffer, n *yaml.Node) error {
	var v any = n.Value
	switch n.ShortTag() {
	case "!!null":
		v = nil
	case "!!bool":
		var yes bool
		if err := n.Decode(&yes); err != nil {
			return fmt.Errorf("line %d: %s is neither true nor false", n.Line, n.Value)
		}
		v = yes
	case "!!int", "!!float":
		var whole int64
		var f float64
		switch {
		case json.Valid([]byte(n.Value)):
			v = json.Number(n.Value)
		case n.Decode(&whole) == nil:
			v = whole
		case n.Decode(&f) == nil:
			v = f
		}
	}
	text, err := json.Marshal(v)
	if err != nil { // no number of JSON's, such as .inf
		text, err = json.Marshal(n.Value)
	}
	b.Write(text)
	return err
}
