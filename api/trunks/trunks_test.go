package trunks_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/api/ticket"
	"parley/api/trunks"
	"parley/api/trunks/preset"
	"parley/api/wire"
	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
	kept "parley/store/trunks"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// lines are trunks that work as they are written.
type lines struct {
	drafts []wire.NewTrunk
	looks  int
}

func (l *lines) Draft(_ string, n *wire.NewTrunk) (d kept.Draft, err error) {
	l.drafts = append(l.drafts, *n)
	if n.Country == "QQ" {
		return d, store.Invalid("country: there is no QQ")
	}
	d = kept.Draft{Name: n.Name, Secrets: kept.Secrets{Password: n.Password, Inbound: n.InboundPassword, Key: n.Key}, Digest: n.InboundUsername, Sources: []netip.Prefix{}}
	for _, s := range n.Allow {
		d.Sources = append(d.Sources, netip.MustParsePrefix(s))
	}
	d.Settings, err = json.Marshal(n.TrunkSettings)
	return d, err
}

func (l *lines) Look(context.Context) error {
	l.looks++
	return nil
}

func (l *lines) Status(string) *wire.TrunkStatus {
	return &wire.TrunkStatus{Targets: []wire.TargetStatus{{Target: "udp:192.0.2.1:5060", Up: true}}}
}

func (l *lines) Check(_ context.Context, id string) (*wire.TrunkStatus, error) {
	return &wire.TrunkStatus{Targets: []wire.TargetStatus{{Target: "udp:192.0.2.1:5060", Detail: "checked " + id}}}, nil
}

type office struct {
	*apitest.World
	lines lines
}

func open(t *testing.T) *office {
	t.Helper()
	o := &office{World: apitest.Open(t, apitest.Options{})}
	signer, err1 := ticket.NewSigner("a master secret of a test, long enough")
	vault, err2 := people.NewVault(o.DB, "a master key of at least 32 characters")
	o.OK(errors.Join(err1, err2))
	a := api.New(ticket.Keys{Signer: signer, Store: o.DB, People: o.People})
	a.Remember(o.DB)
	trunks.Mount(a, kept.New(o.DB, vault), &o.lines, o.DB, preset.Server{Host: "voice.example.com", Port: 5070})
	o.Serve(a, api.Options{})
	return o
}

// ask sends a request, wants a status and reads the answer.
func (o *office) ask(who apitest.Owner, method, path, body string, status int) (t wire.Trunk, text string) {
	o.Helper()
	r := o.As(who, method, path, body)
	if r.Status != status {
		o.Fatalf("%s %s: %d %s, want %d", method, path, r.Status, r.Body, status)
	}
	_ = json.Unmarshal(r.Body, &t) // not every answer is a trunk
	return t, string(r.Body)
}

// TestTrunks: a trunk is made, read by its name, replaced, checked and deleted, by its account alone; its passwords are never
// shown, and stay with their users.
func TestTrunks(t *testing.T) {
	o := open(t)
	const secret = "open sesame"
	made, text := o.ask(o.A, "POST", "/v1/trunks", `{"name":"office","targets":[{"host":"192.0.2.1"}],"username":"account","password":"`+secret+`","register":true,`+
		`"extensions":[{"match":"1xx","agent_id":"`+o.A.Agent+`"}]}`, 201)
	if made.Name != "office" || made.Register == nil || !*made.Register || made.Username != "account" || made.Status == nil || len(made.Extensions) != 1 || o.lines.looks != 1 {
		t.Errorf("%s", text)
	}
	read, shown := o.ask(o.A, "GET", "/v1/trunks/office", "", 200)
	_, all := o.ask(o.A, "GET", "/v1/trunks", "", 200)
	if read.ID != made.ID || strings.Contains(text+shown+all, secret) || !strings.Contains(all, made.ID) {
		t.Errorf("%s %s", shown, all)
	}
	for _, path := range []string{"/v1/trunks/office", "/v1/trunks/" + made.ID} {
		o.ask(o.B, "GET", path, "", 404)
		o.ask(o.B, "PUT", path, `{"name":"mine"}`, 404)
		o.ask(o.B, "DELETE", path, "", 404)
		o.ask(o.B, "POST", path+"/check", "", 404)
	}
	if _, others := o.ask(o.B, "GET", "/v1/trunks", "", 200); strings.Contains(others, made.ID) {
		t.Error(others)
	}

	o.ask(o.A, "PUT", "/v1/trunks/office", `{"name":"office","username":"account","country":"DE"}`, 200)
	if got := o.lines.drafts[len(o.lines.drafts)-1]; got.Password != secret {
		t.Errorf("the password of the same user is %q", got.Password)
	}
	replaced, text := o.ask(o.A, "PUT", "/v1/trunks/"+made.ID, `{"name":"desk","username":"other","password":"p"}`, 200)
	if replaced.Name != "desk" || replaced.Register != nil || replaced.Country != "" {
		t.Error(text)
	}
	o.ask(o.A, "PUT", "/v1/trunks/desk", `{"name":"desk","username":"third"}`, 200)
	if got := o.lines.drafts[len(o.lines.drafts)-1]; got.Password != "" {
		t.Errorf("another user has the password %q", got.Password)
	}
	const certificate, key = "-----BEGIN CERTIFICATE-----", "-----BEGIN PRIVATE KEY-----"
	_, text = o.ask(o.A, "PUT", "/v1/trunks/desk", `{"name":"desk","cert":"`+certificate+`","key":"`+key+`"}`, 200)
	if strings.Contains(text, key) || !strings.Contains(text, certificate) {
		t.Error(text)
	}
	for cert, want := range map[string]string{certificate: key, certificate + `\r\n`: key, "another": ""} {
		o.ask(o.A, "PUT", "/v1/trunks/desk", `{"name":"desk","cert":"`+certificate+`","key":"`+key+`"}`, 200)
		o.ask(o.A, "PUT", "/v1/trunks/desk", `{"name":"desk","cert":"`+cert+`"}`, 200)
		if got := o.lines.drafts[len(o.lines.drafts)-1]; got.Key != want {
			t.Errorf("with the certificate %s the key is %q", cert, got.Key)
		}
	}
	if checked, text := o.ask(o.A, "POST", "/v1/trunks/desk/check", "", 200); checked.Status.Targets[0].Detail != "checked "+made.ID {
		t.Error(text)
	}
	looks := o.lines.looks
	o.ask(o.A, "DELETE", "/v1/trunks/desk", "", 204)
	o.ask(o.A, "GET", "/v1/trunks/"+made.ID, "", 404)
	if o.lines.looks != looks+1 {
		t.Error("the telephone keeps a trunk that was deleted")
	}
}

// TestTrunksAreRefused: what is wrong is said, and nothing is stored.
func TestTrunksAreRefused(t *testing.T) {
	o := open(t)
	o.ask(o.A, "POST", "/v1/trunks", `{"name":"taken","allow":["192.0.2.0/24"]}`, 201)
	for name, c := range map[string]struct {
		who    apitest.Owner
		body   string
		status int
		code   string
	}{
		"a name with a space": {o.A, `{"name":"my office"}`, 400, "validation.invalid_request_format"},
		"a country":           {o.A, `{"name":"x","country":"QQ"}`, 400, "validation.invalid_request_format"},
		"a name twice":        {o.A, `{"name":"taken"}`, 400, "validation.invalid_request_format"},
		"another's agent":     {o.A, `{"name":"x","extensions":[{"match":"1","agent_id":"` + o.B.Agent + `"}]}`, 404, "agent.not_found"},
		"another's source":    {o.B, `{"name":"x","allow":["192.0.2.9/32"]}`, 409, "callcenter.source_taken"},
	} {
		o.Want(name, o.As(c.who, http.MethodPost, "/v1/trunks", c.body), c.status, c.code)
	}
	if _, all := o.ask(o.B, "GET", "/v1/trunks", "", 200); !strings.Contains(all, `"data":[]`) {
		t.Error(all)
	}
}

// TestPresets: a trunk with a preset has its settings where its owner sends none, switches and lists among them, when it is made
// and when it is replaced; it says what to enter on the other side.
func TestPresets(t *testing.T) {
	o := open(t)
	var list api.List[wire.TrunkPreset]
	o.OK(json.Unmarshal(o.As(o.A, "GET", "/v1/trunk-presets?limit=3", "").Body, &list))
	if len(list.Data) != 3 || list.NextCursor == nil || *list.NextCursor != "3cx" {
		t.Fatalf("%+v", list)
	}
	o.OK(json.Unmarshal(o.As(o.A, "GET", "/v1/trunk-presets?cursor=3cx", "").Body, &list))
	if len(list.Data) != len(preset.All())-3 || list.HasMore {
		t.Errorf("%d follow", len(list.Data))
	}
	o.Want("a cursor of nowhere", o.As(o.A, "GET", "/v1/trunk-presets?cursor=nobody", ""), 400, "validation.invalid_request_format")
	o.Want("a preset that is none", o.As(o.A, "POST", "/v1/trunks", `{"name":"x","preset":"nobody"}`), 400, "validation.invalid_request_format")

	made, text := o.ask(o.A, "POST", "/v1/trunks", `{"name":"line","preset":"telnyx","username":"me","password":"p","codecs":["PCMA"]}`, 201)
	if made.Preset != "telnyx" || len(made.Targets) != 1 || made.Targets[0].Host != "sip.telnyx.com" || made.Register == nil || !*made.Register || !slices.Equal(made.Codecs, []string{"PCMA"}) {
		t.Error(text)
	}
	if len(made.FarEnd) == 0 || !strings.Contains(made.FarEnd[0], "the user me and") || !strings.Contains(text, `"name":"line"`) {
		t.Error(text)
	}
	if got := o.lines.drafts[len(o.lines.drafts)-1]; got.Password != "p" || got.Register == nil {
		t.Errorf("at work is %+v", got)
	}
	replaced, text := o.ask(o.A, "PUT", "/v1/trunks/line", `{"name":"line","preset":"telnyx","username":"me","register":false,"targets":[{"host":"192.0.2.1","port":5080}]}`, 200)
	if replaced.Register == nil || *replaced.Register || len(replaced.Targets) != 1 || replaced.Targets[0].Host != "192.0.2.1" || len(replaced.Codecs) != 3 {
		t.Error(text)
	}
	if got := o.lines.drafts[len(o.lines.drafts)-1]; got.Password != "p" {
		t.Errorf("the password of the same user is %q", got.Password)
	}
	plain, text := o.ask(o.A, "PUT", "/v1/trunks/line", `{"name":"line","allow":["192.0.2.1/32"]}`, 200)
	if plain.Preset != "" || plain.FarEnd != nil || plain.Codecs != nil {
		t.Error(text)
	}
	exchange, text := o.ask(o.A, "POST", "/v1/trunks", `{"name":"pbx","preset":"asterisk","allow":["192.0.2.8/32"],"inbound_username":"pbx-1","inbound_password":"p"}`, 201)
	if !strings.Contains(strings.Join(exchange.FarEnd, " "), "SIP Server: voice.example.com, SIP Server Port: 5070. Username: pbx-1.") {
		t.Error(text)
	}
}

// TestTrunkOnce: a trunk is made once, however often it is asked for.
func TestTrunkOnce(t *testing.T) {
	o := open(t)
	var ids []string
	for range 2 {
		r := o.As(o.A, "POST", "/v1/trunks", `{"name":"office"}`, "Idempotency-Key", "first")
		var made wire.Trunk
		o.OK(json.Unmarshal(r.Body, &made))
		ids = append(ids, made.ID)
	}
	if ids = slices.Compact(ids); len(ids) != 1 || ids[0] == "" {
		t.Errorf("%v", ids)
	}
}

// TestChecksAreLimited: a check sends messages to others, so an account has only so many.
func TestChecksAreLimited(t *testing.T) {
	o := open(t)
	o.ask(o.A, "POST", "/v1/trunks", `{"name":"office"}`, 201)
	for range 10 {
		o.ask(o.A, "POST", "/v1/trunks/office/check", "", 200)
	}
	o.Want("one more", o.As(o.A, "POST", "/v1/trunks/office/check", ""), 429, "auth.rate_limited")
}
