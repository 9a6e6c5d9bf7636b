package tool

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/pipeline/tool/crm"
	"parley/pipeline/tool/crm/crmtest"
)

func TestLookup(t *testing.T) {
	h := crmtest.New(t, secret)
	h.AddContact(map[string]string{"firstname": "Ana", "phone": "+34910000001"})
	def := `{"type":"crm","crm":{"provider":"hubspot","url":"` + h.URL + `","api_key":"{{secret.KEY}}"}}`
	for _, tt := range []struct{ args, want, err string }{
		{`{}`, `{"found":true,"contact":{"id":"101","name":"Ana","phone":"+34910000001"}}`, ""}, // who is on the line
		{``, `{"found":true,"contact":{"id":"101","name":"Ana","phone":"+34910000001"}}`, ""},
		{`{"phone":"+34 (910) 00-00.02"}`, `{"found":false}`, ""},
		{`{"phone":"910000001"}`, "", "a telephone number with its country code"},
		{`{"phone":7}`, "", "the arguments are not a JSON object"},
	} {
		result, err := newBench(t).run(def, tt.args)
		if result != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%s: %s, %v", tt.args, result, err)
		}
	}
	h.Fail(500)
	if _, err := newBench(t).run(def, `{}`); err == nil || err.Error() != "the customer database refused the request" {
		t.Error(err)
	}
	b := newBench(t)
	b.who.Other = ""
	if _, err := b.run(def, `{}`); err == nil || !strings.Contains(err.Error(), "that of the caller is not known") {
		t.Error(err)
	}
	if f := b.open(def).Functions[0]; f.Meter != CRM || f.Spec.Name != "crm_lookup" {
		t.Errorf("%+v", f)
	}
	for _, none := range []string{`{"type":"crm"}`, `{"type":"crm","crm":{"provider":"hubspot","lookup":false}}`} {
		if set := b.open(none); len(set.Functions) != 0 {
			t.Errorf("%s: %+v", none, set.Functions)
		}
	}
	b.who.Other = "+34910000001"
	b.Config.CRM, _ = NewCRM(crm.HubSpot, h.URL, secret)
	if result, err := b.run(`{"type":"crm"}`, `{"phone":"+34910000001"}`); err != nil || !strings.HasPrefix(result, `{"found":true`) {
		t.Errorf("the operator's database: %s, %v", result, err)
	}
	// An agent's own database is only where accounts may go, the operator's anywhere.
	b.Guard = guard(t, nil)
	if _, err := b.run(def, `{}`); err == nil || err.Error() != "127.0.0.1 is not on the public Internet" {
		t.Error(err)
	}
	if _, err := b.run(`{"type":"crm"}`, `{}`); err != nil {
		t.Error(err)
	}
}

func TestNote(t *testing.T) {
	h := crmtest.New(t, secret)
	b := newBench(t)
	p := New(b.Config)
	source := &CRMSource{Provider: crm.HubSpot, URL: h.URL, APIKey: "{{secret.KEY}}"}
	call := crm.Call{ID: "ses_1", From: "+34911111111", To: "+34910000001", StartedAt: time.Now()}
	for try := range 2 {
		if err := p.Note(t.Context(), "acc_1", source, call, try > 0); err != nil {
			t.Error(err)
		}
	}
	if n := len(h.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
	h.Fail(400)
	if err := p.Note(t.Context(), "acc_1", source, call, false); err == nil || err.Error() != "crm: status 400" {
		t.Error(err)
	}
	for _, tt := range []struct {
		source CRMSource
		want   string
	}{{CRMSource{}, ErrNoCRM.Error()}, {CRMSource{Provider: crm.HubSpot, APIKey: "{{secret.NONE}}"}, "the secret NONE does not exist, or does not belong to this host"},
		{CRMSource{Provider: crm.REST, URL: "http://10.0.0.1"}, "10.0.0.1 is not on the public Internet"}} {
		if err := p.Note(t.Context(), "acc_1", &tt.source, call, false); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v", tt.source, err)
		}
	}
	if b, err := json.Marshal(source); err != nil || strings.Contains(string(b), secret) {
		t.Errorf("%s, %v", b, err)
	}
}
