package config

import (
	"fmt"
	"regexp"
	"strings"
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
	if c.trunks != nil {
		all = append(all, Shown{trunksKey, printTrunks(c.trunks), string(fromFile)})
	}
	return all
}

// Print writes the settings in force as a YAML file, each with its source.
func (c *Config) Print() string {
	var b strings.Builder
	for _, s := range c.Shown() {
		if s.Key != trunksKey {
			fmt.Fprintf(&b, "%-44s # %s\n", s.Key+": "+yamlText(s.Value), s.Source)
		}
	}
	b.WriteString(printTrunks(c.trunks))
	return b.String()
}

func yamlText(v string) string {
	if plainValue.MatchString(v) {
		return v
	}
	return fmt.Sprintf("%q", v)
}
