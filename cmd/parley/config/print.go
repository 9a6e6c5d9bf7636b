package config

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// plainValue needs no quotes in YAML.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// Shown is a setting as it is in force, safe to show.
type Shown struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // of a secret: "(secret)", or empty when it is not set
	Source string `json:"source"` // flag, environment, file or default
}

// Shown lists all settings in the order of the table.
func (c *Config) Shown() []Shown {
	var all []Shown
	for _, s := range settings {
		v := c.values[s.Name]
		if s.Secret && v.text != "" {
			v.text = "(secret)"
		}
		all = append(all, Shown{s.Key(), v.text, string(v.source)})
	}
	for _, key := range []string{enginesKey, trunksKey} {
		if text := c.printList(key); text != "" {
			all = append(all, Shown{key, text, string(fromFile)})
		}
	}
	return all
}

// Print writes the settings in force as a YAML file, each with its source.
func (c *Config) Print() string {
	var b strings.Builder
	for _, s := range c.Shown() {
		if _, isList := c.lists[s.Key]; isList {
			b.WriteString(s.Value)
			continue
		}
		fmt.Fprintf(&b, "%-44s # %s\n", s.Key+": "+yamlText(s.Value), s.Source)
	}
	return b.String()
}

// printList is a list as YAML, without secrets; empty: the file has none.
func (c *Config) printList(key string) string {
	l, there := c.lists[key]
	if !there {
		return ""
	}
	hide := map[string]func(*yaml.Node) *yaml.Node{enginesKey: hiddenEngines, trunksKey: hidden}[key]
	b, err := yaml.Marshal(map[string]*yaml.Node{key: hide(l.node)})
	if err != nil {
		return "" // it was read, so it can be written
	}
	return string(b)
}

func yamlText(v string) string {
	if plainValue.MatchString(v) {
		return v
	}
	return fmt.Sprintf("%q", v)
}
