package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestTransferSettings(t *testing.T) {
	list := func(n int) string {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf(`{"number":"+3491123%04d"}`, 4000+i))
		}
		return `{"transfer_to":[` + strings.Join(entries, ",") + `]}`
	}
	for _, c := range []struct{ data, wrong string }{
		{`{"transfer_to":[{"number":"+34 911 234 567","name":" sales ","description":"Orders","warm":true},{"number":"+34911234568"}],"transfer_any":true}`, ""},
		{`{"send_dtmf":false,"collect_digits":false,"opt_out":false}`, ""}, {list(32), ""}, {list(33), "settings.transfer_to: 33 entries, allowed are 32"},
		{`{"transfer_to":[{"number":"911234567"}]}`, "settings.transfer_to[0].number: must be a telephone number"},
		{`{"transfer_to":[{"number":"+34911234567","extension":1}]}`, "extension"},
		{`{"transfer_to":[{"number":"+34911234567","name":"` + strings.Repeat("a", 61) + `"}]}`, "settings.transfer_to[0].name: 61 characters, allowed are 60"},
		{`{"transfer_to":[{"number":"+34911234567","description":"a\nb"}]}`, `settings.transfer_to[0].description: "a\nb", must be one line`},
		{`{"transfer_to":[{"number":"+34911234567","name":"Sales"},{"number":"+34911234568","name":"sales"}]}`, `settings.transfer_to[1]: there are two of "sales"`},
	} {
		_, err := ParseSettings([]byte(c.data))
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%.60s: %v, want %q", c.data, err, c.wrong)
		}
	}
}

func TestFunctionsOfTheTelephone(t *testing.T) {
	listed := func(context.Context) error { return nil }
	parse := func(data string) *Config {
		s, err := ParseSettings([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		c := new(Config)
		s.Telephone(c, new(Transfer), listed)
		return c
	}
	if c := parse(""); !c.SendDTMF || !c.CollectDigits || c.OptOut == nil || c.Transfer.somebody() {
		t.Errorf("by default %+v", c)
	}
	if c := parse(`{"send_dtmf":false,"collect_digits":false,"opt_out":false}`); c.SendDTMF || c.CollectDigits || c.OptOut != nil {
		t.Errorf("without all %+v", c)
	}
	c := parse(`{"transfer_to":[{"number":"+34 911 234 567","name":" sales "}]}`)
	if !c.Transfer.somebody() || c.Transfer.Any || c.Transfer.To[0] != (Destination{Number: "+34911234567", Name: "sales"}) {
		t.Errorf("to %+v", c.Transfer)
	}
	if c := parse(`{"transfer_any":true}`); !c.Transfer.somebody() {
		t.Error("to any number: nobody")
	}
}
