// Package trunk is the dashboard's pages about the trunks of an account. They ask the API's routes. The templates are
// the dashboard's, whose tests use the pages in a browser.
package trunk

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

// At is where the pages are, and Title what they are called.
const (
	At    = page.Home + "/trunks"
	Title = "Trunks"
)

// route is the API's address of trunks.
const route = "/v1/trunks"

// Pages are the pages.
func Pages() []page.Page {
	const one = At + "/{id}"
	return []page.Page{
		{Route: "GET " + At, Serve: list},
		{Route: "POST " + At, Form: create},
		{Route: "GET " + one, Serve: show},
		{Route: "POST " + one, Form: replace},
		{Route: "POST " + one + "/check", Serve: check},
		{Route: "POST " + one + "/extensions", Form: addExtension},
		{Route: "POST " + one + "/numbers", Form: addNumber},
		{Route: "POST " + one + "/delete", Serve: remove},
	}
}

// trunks is the page of all.
type trunks struct {
	Trunks  []wire.Trunk
	presets []wire.TrunkPreset
	Form    *page.Form
}

// Presets is the choice of what the new one leads to.
func (t *trunks) Presets() page.Field {
	choices := []page.Option{{Value: "", Label: "Another exchange or carrier"}}
	for _, p := range t.presets {
		choices = append(choices, page.Option{Value: p.Name, Label: p.Title})
	}
	return t.Form.Select("preset", "The other side", "", choices, "width=medium", "hint=Of those in the list the server knows the settings: what you leave empty below is as that side wants it.")
}

// Working says whether calls go out on a trunk.
func (*trunks) Working(t wire.Trunk) bool { return working(t.Status) }

func working(s *wire.TrunkStatus) bool {
	return s != nil && (s.Registration == nil || s.Registration.Registered) && (len(s.Targets) == 0 && s.Error == "" ||
		slices.ContainsFunc(s.Targets, func(t wire.TargetStatus) bool { return t.Up }))
}

func read(q *page.Request, f *page.Form) (*trunks, error) {
	found, err := page.Read[api.List[wire.Trunk]](q, route)
	if err != nil {
		return nil, err
	}
	presets, err := page.Read[api.List[wire.TrunkPreset]](q, "/v1/trunk-presets")
	return &trunks{found.Data, presets.Data, f}, err
}

func list(q *page.Request) error { return q.Show("trunks", Title)(read(q, &page.Form{})) }

func create(q *page.Request, f *page.Form) error {
	n := settings(f, wire.NewTrunk{})
	if n.Preset = f.Value("preset"); n.Preset != "" {
		leave(&n)
	}
	var made wire.Trunk
	again := func() error { return q.ShowInvalid("trunks", "trunk-form", Title)(read(q, f)) }
	if done, err := q.Submit(f, http.MethodPost, route, n, &made, again); !done {
		return err
	}
	said := "The trunk works from now on. Check whether the other side answers."
	if made.Preset != "" {
		said = "The trunk works from now on. What to enter on the other side stands below."
	}
	return q.Done(page.Path(At+"/", made.ID), said)
}

// leave takes out what a form without an entry says, so that the preset decides.
func leave(n *wire.NewTrunk) {
	if !*n.Register {
		n.Register = nil
	}
	if !*n.WebSocket {
		n.WebSocket = nil
	}
	if n.NumberForm == usualForm {
		n.NumberForm = ""
	}
}

// usualForm is how numbers are written where nobody chooses.
const usualForm = "e164"

// settings are those of n, changed as a form says. What the form does not have stays.
func settings(f *page.Form, n wire.NewTrunk) wire.NewTrunk {
	n.Name = f.Need("name", "Enter a name.")
	n.Targets = targets(f, "targets")
	n.Allow = strings.Fields(strings.ReplaceAll(f.Values.Get("allow"), ",", " "))
	register := f.Value("register") != ""
	n.Username, n.Password, n.Register = f.Value("username"), f.Value("password"), &register
	n.Cert, n.Key = f.Value("cert"), f.Value("key")
	websocket := f.Value("websocket") != ""
	n.WebSocket = &websocket
	n.InboundUsername, n.InboundPassword = f.Value("inbound_username"), f.Value("inbound_password")
	n.Codecs = strings.Fields(strings.ReplaceAll(strings.ToUpper(f.Value("codecs")), ",", " "))
	n.FromUser, n.FromHost, n.ContactHost, n.PublicIP = f.Value("from_user"), f.Value("from_host"), f.Value("contact_host"), f.Value("public_ip")
	if n.OutboundProxy = nil; f.Value("outbound_proxy") != "" {
		n.OutboundProxy = &targets(f, "outbound_proxy")[0]
	}
	n.Country, n.NumberForm = strings.ToUpper(f.Value("country")), f.Value("number_form")
	return n
}

// targets reads servers from a field, one a line, such as sip.carrier.example, 192.0.2.10:5080 or tls:sip.carrier.example.
func targets(f *page.Form, field string) (all []wire.TrunkTarget) {
	for line := range strings.Lines(f.Values.Get(field)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var t wire.TrunkTarget
		for _, transport := range []string{"udp", "tcp", "tls"} {
			if rest, ok := strings.CutPrefix(strings.ToLower(line), transport+":"); ok {
				t.Transport, line = transport, rest
			}
		}
		t.Host = line
		if host, port, ok := strings.Cut(line, ":"); ok && strings.Count(line, ":") == 1 {
			n, err := strconv.Atoi(port)
			if err != nil {
				f.Fail(field, "Write a server as sip.carrier.example, 192.0.2.10:5080 or tls:sip.carrier.example.")
			}
			t.Host, t.Port = host, n
		}
		all = append(all, t)
	}
	return all
}

// written is how targets are entered.
func written(all []wire.TrunkTarget) string {
	var b strings.Builder
	for _, t := range all {
		if t.Transport != "" && t.Transport != "udp" {
			b.WriteString(t.Transport + ":")
		}
		b.WriteString(t.Host)
		if t.Port > 0 {
			b.WriteString(":" + strconv.Itoa(t.Port))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// view is the page of one trunk.
type view struct {
	Trunk    wire.Trunk
	Form     *page.Form // of its settings
	Numbers  []wire.Number
	Agents   []page.Option
	Document string // all its settings
}

// Working says whether calls go out on it.
func (v *view) Working() bool { return working(v.Trunk.Status) }

// AgentName is what an agent is called.
func (v *view) AgentName(id string) string { return page.LabelOf(v.Agents, id) }

// Answers is the choice of who answers a number or an extension.
func (v *view) Answers(id string) page.Field {
	f := (&page.Form{}).Select("agent_id", "Who answers", "", v.Agents, "plain")
	f.ID = id
	return f
}

// Forms is the choice of how numbers are written that go out.
func (v *view) Forms() page.Field { return forms(v.Form) }

// Forms is the same in the form of a new one.
func (t *trunks) Forms() page.Field { return forms(t.Form) }

func forms(f *page.Form) page.Field {
	return f.Select("number_form", "Numbers that go out", usualForm, []page.Option{{Value: "e164", Label: "+49341112233"}, {Value: "plain", Label: "49341112233"},
		{Value: "international", Label: "0049341112233"}, {Value: "national", Label: "0341112233, and 00… to other countries"}}, "plain", "width=medium")
}

func show(q *page.Request) error { return showWith(q, nil) }

// showWith is the page of a trunk; f is a form of its settings that came back with mistakes.
func showWith(q *page.Request, f *page.Form) error {
	v, err := newView(q, f)
	if err != nil {
		return err
	}
	if f != nil && !f.OK() {
		return q.Invalid("trunk", "trunk-settings", "Trunk", v)
	}
	return q.Page("trunk", "Trunk", v)
}

func newView(q *page.Request, f *page.Form) (*view, error) {
	t, err := page.Read[wire.Trunk](q, page.Path(route+"/", q.ID("id")))
	if err != nil {
		return nil, err
	}
	v := &view{Trunk: t, Form: f}
	if f == nil {
		v.Form = page.NewForm("name", t.Name, "targets", written(t.Targets), "allow", strings.Join(t.Allow, "\n"), "username", t.Username,
			"inbound_username", t.InboundUsername, "codecs", strings.Join(t.Codecs, ", "), "country", t.Country, "number_form", cmp.Or(t.NumberForm, usualForm), "from_host", t.FromHost, "from_user", t.FromUser,
			"contact_host", t.ContactHost, "public_ip", t.PublicIP, "cert", t.Cert)
		if t.OutboundProxy != nil {
			v.Form.Values.Set("outbound_proxy", strings.TrimSpace(written([]wire.TrunkTarget{*t.OutboundProxy})))
		}
		if t.Register != nil && *t.Register {
			v.Form.Values.Set("register", "on")
		}
		if t.WebSocket != nil && *t.WebSocket {
			v.Form.Values.Set("websocket", "on")
		}
	}
	all, err := page.Read[struct{ Numbers []wire.Number }](q, "/callcenter/numbers")
	if err != nil {
		return nil, err
	}
	v.Numbers = slices.DeleteFunc(all.Numbers, func(n wire.Number) bool { return n.TrunkID == nil || *n.TrunkID != t.ID })
	agents, err := page.Read[struct{ Agents []wire.Agent }](q, "/callcenter/agents")
	if err != nil {
		return nil, err
	}
	for _, a := range agents.Agents {
		v.Agents = append(v.Agents, page.Option{Value: a.ID, Label: a.Name})
	}
	text, err := json.Marshal(wire.NewTrunk{Name: t.Name, TrunkSettings: t.TrunkSettings})
	if err == nil {
		v.Document, err = wire.YAML(text)
	}
	return v, err
}

// stored is the trunk of the path, as it may be written again.
func stored(q *page.Request) (wire.NewTrunk, error) {
	t, err := page.Read[wire.Trunk](q, page.Path(route+"/", q.ID("id")))
	return wire.NewTrunk{Name: t.Name, TrunkSettings: t.TrunkSettings}, err
}

func replace(q *page.Request, f *page.Form) error {
	n, err := stored(q)
	if err != nil {
		return err
	}
	n = settings(f, n)
	again := func() error { return showWith(q, f) }
	if done, err := q.Submit(f, http.MethodPut, page.Path(route+"/", q.ID("id")), n, nil, again); !done {
		return err
	}
	return q.Done(own(q), "The trunk was changed.")
}

// own is the address of the trunk's page.
func own(q *page.Request) string { return page.Path(At+"/", q.ID("id")) }

func check(q *page.Request) error {
	var t wire.Trunk
	if err := q.Call(http.MethodPost, page.Path(route+"/", q.ID("id"), "/check"), nil, &t); err != nil {
		return err
	}
	said := "The other side answers."
	switch {
	case len(t.Targets) == 0:
		said = "The trunk takes calls. It has no servers that could be asked."
	case !working(t.Status):
		said = "The other side does not answer: see below."
	}
	return q.Done(own(q), said)
}

func addExtension(q *page.Request, f *page.Form) error {
	n, err := stored(q)
	if err != nil {
		return err
	}
	n.Extensions = append(n.Extensions, wire.TrunkExtension{Match: f.Value("match"), AgentID: f.Value("agent_id")})
	return q.Do(http.MethodPut, page.Path(route+"/", q.ID("id")), n, own(q), "The extension is answered from now on.")
}

func addNumber(q *page.Request, f *page.Form) error {
	return q.Do(http.MethodPost, page.Path(route+"/", q.ID("id"), "/numbers"), wire.NewTrunkNumber{PhoneNumber: f.Value("phone_number"), AgentID: f.Value("agent_id")}, own(q),
		"The number is on the trunk.")
}

func remove(q *page.Request) error {
	return q.Do(http.MethodDelete, page.Path(route+"/", q.ID("id")), nil, At, "The trunk was deleted.")
}
