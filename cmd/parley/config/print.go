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

// Page writes the table of settings as a Markdown document.
func Page() string {
	var b strings.Builder
	b.WriteString(`# Settings

Each is an environment variable, and a key in the file of ` + "`parley serve --config FILE`" + `: ` + "`PARLEY_HTTP_ADDR` is `http_addr`" + `. Those with a flag
say so. A flag counts before the environment, the environment before the file. A secret may be kept in a file of its own:
` + "`PARLEY_SECRET_FILE` names the file of `PARLEY_SECRET`" + `.

This page is generated from the table of settings by ` + "`go test ./cmd/parley/config -run TestSettingsPage -update`" + `.
`)
	section := ""
	for _, s := range settings {
		if s.section != section {
			section = s.section
			fmt.Fprintf(&b, "\n## %s\n\n| Setting | Default | What it does | Allowed |\n| :- | :- | :- | :- |\n", section)
		}
		def, flag := s.Otherwise, ""
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}
		if s.Flag {
			flag = " `--" + s.FlagName() + "`"
		}
		fmt.Fprintf(&b, "| `%s%s`%s | %s | %s | %s |\n", prefix, s.Name, flag, cell(def), cell(s.Meaning), cell(s.Allowed))
	}
	return b.String()
}

// cell is text inside a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// Example writes the documented configuration file, every setting commented
// out at its default.
func Example() string {
	var b strings.Builder
	b.WriteString(`# Settings of the Parley server. Use a copy of this file with
#   parley serve --config parley.yaml
# Each key is also an environment variable: http_addr is PARLEY_HTTP_ADDR.
# A flag counts before the environment, the environment before this file.
# A secret may be kept in a file of its own: secret_file names it.
#
# Generated from the table of settings by
#   go test ./cmd/parley/config -run TestExampleFile -update
`)
	section := ""
	for _, s := range settings {
		if s.section != section {
			section = s.section
			fmt.Fprintf(&b, "\n# --- %s ---\n", section)
		}
		fmt.Fprintf(&b, "\n# %s\n# Allowed: %s.\n", s.Meaning, s.Allowed)
		if s.Otherwise != "" {
			fmt.Fprintf(&b, "# When empty: %s.\n", s.Otherwise)
		}
		fmt.Fprintf(&b, "#%s: %s\n", s.Key(), yamlText(s.Default))
	}
	b.WriteString(trunksExample)
	return b.String()
}
