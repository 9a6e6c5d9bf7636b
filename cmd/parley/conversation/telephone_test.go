package conversation

import (
	"context"
	"slices"
	"testing"

	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
)

func TestFunctionsOfTheTelephone(t *testing.T) {
	listed := func(context.Context) error { return nil }
	parse := func(data string) *pipeline.Config {
		s, err := agent.ParseSettings([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		c := new(pipeline.Config)
		Telephone(c, &s, new(bridge.Transfer), func(context.Context, string) error { return nil }, listed)
		return c
	}
	if c := parse(""); !slices.Equal(c.Keys, []string{toolbox.SendDTMF, toolbox.CollectDigits}) || c.OptOut == nil || c.Functions != nil || c.Transfer.Offers() {
		t.Errorf("by default %+v", c)
	}
	if c := parse(`{"send_dtmf":false,"collect_digits":false,"opt_out":false}`); c.Keys != nil || c.OptOut != nil {
		t.Errorf("without all %+v", c)
	}
	if c := parse(`{"send_sms":true}`); len(c.Functions) != 1 || c.Functions[0].Spec.Name != tool.SendSMS {
		t.Error("text messages are not offered")
	}
	c := parse(`{"transfer_to":[{"number":"+34 911 234 567","name":" sales "}]}`)
	if !c.Transfer.Offers() || c.Transfer.Any || c.Transfer.To[0] != (agent.Destination{Number: "+34911234567", Name: "sales"}) {
		t.Errorf("to %+v", c.Transfer)
	}
	if c := parse(`{"transfer_any":true}`); !c.Transfer.Offers() {
		t.Error("to any number: nobody")
	}
}
