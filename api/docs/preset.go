package docs

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strings"

	"parley/api/trunks/preset"
	"parley/api/wire"
)

// presetPages is where the pages of the presets of trunks are, by the name of the page that lists them.
const presetPages = "trunks"

// withPresets adds a page for each preset after the one that lists them.
func withPresets(pages []page) (all []page) {
	for _, p := range pages {
		if all = append(all, p); p.name != presetPages {
			continue
		}
		for _, one := range preset.All() {
			all = append(all, page{name: presetPages + "/" + one.Name, Title: one.Title, Lead: "A trunk between this server and " + one.Title + "."})
		}
	}
	return all
}

// preset is that of trunks whose page it is; empty: it is no preset's.
func (p page) preset() string {
	if name, is := strings.CutPrefix(p.name, presetPages+"/"); is {
		return name
	}
	return ""
}

// Listed says whether the navigation has the page.
func (p page) Listed() bool { return p.preset() == "" }

// presetView is what the page of a preset shows.
type presetView struct {
	Preset   wire.TrunkPreset
	Command  string // that makes a trunk with it
	Document string // its settings
	Flow     flow
}

// presetBody writes the text of the page of a preset.
func presetBody(t *template.Template, name string, here preset.Server) (string, error) {
	v := presetView{}
	for _, p := range preset.Shown(here) {
		if p.Name == name {
			v.Preset = p
		}
	}
	settings, err := json.Marshal(v.Preset.Settings)
	if err == nil {
		v.Document, err = wire.YAML(settings)
	}
	if err != nil {
		return "", err
	}
	v.Command, v.Flow = commandOf(&v.Preset), flowOf(&v.Preset)
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, "preset", v)
	return b.String(), err
}

// options are the options of `parley trunk create` by the settings that presets need, with values that stand for others.
var options = map[string]string{
	"targets": "--target sip.example.com", "allow": "--allow 192.0.2.0/28", "username": "--username account", "password": "--password-file trunk.password",
	"inbound_username": "--inbound-username exchange", "inbound_password": "--inbound-password-file exchange.password",
	"from_user": "--from-user 100", "from_host": "--from-host voice.example.com", "contact_host": "--contact-host voice.example.com",
	"cert": "--cert-file line.pem", "key": "--key-file line.key",
}

// commandOf makes a trunk with what a preset needs.
func commandOf(p *wire.TrunkPreset) string {
	words := []string{"parley trunk create --preset " + p.Name + " --name line"}
	for _, n := range p.Needs {
		words = append(words, options[n])
	}
	return strings.Join(words, " \\\n  ")
}
