package remote

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/cmd/parley/command"
)

// TestTest: each case is printed, of one that failed what was said; the exit status and the
// report say so, too, and a draft is sent along.
func TestTest(t *testing.T) {
	fakeServer(t)
	report, draft := filepath.Join(t.TempDir(), "report.xml"), filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(draft, []byte("id: ag_one\nversion: 1\nname: Lola\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := run("", "test", "ag_one", "--junit", report)
	for _, want := range []string{"ok    Hours", "FAIL  Booking: 1 of 1 runs", `says "table"; found never`, "caller  hello", "1 of 2 cases as expected"} {
		if !strings.Contains(o.Out, want) {
			t.Errorf("%q is not in %s", want, o.Out)
		}
	}
	if o.Status != command.ExitFailed {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Cases    []struct {
			Time    string `xml:"time,attr"`
			Failure *struct {
				Text string `xml:",chardata"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Name != "ag_one" || suite.Tests != 2 || suite.Failures != 1 || suite.Cases[0].Failure != nil || suite.Cases[0].Time != "2.500" || !strings.Contains(suite.Cases[1].Failure.Text, `says "table"`) {
		t.Errorf("%s", text)
	}
	for _, args := range [][]string{{"--file", draft}, {"--case", "Hours"}, {"--case", "case_1", "--json"}} {
		if o := run("", append([]string{"test", "ag_one"}, args...)...); o.Status != command.ExitDone {
			t.Errorf("%v: exit status %d: %s%s", args, o.Status, o.Out, o.ErrOut)
		}
	}
	for _, args := range [][]string{{"--runs", "-1"}, {"--case", "nothing"}} {
		if o := run("", append([]string{"test", "ag_one"}, args...)...); o.Status != command.ExitUsage {
			t.Errorf("%v: exit status %d: %s", args, o.Status, o.ErrOut)
		}
	}
}

// TestCase: cases are listed, shown as YAML, sent by the name of their file and replaced by
// their name, and deleted.
func TestCase(t *testing.T) {
	s := fakeServer(t)
	file := filepath.Join(t.TempDir(), "Greeting.yaml")
	if err := os.WriteFile(file, []byte("caller: [{say: hello}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{"list ag_one": "Booking", "show ag_one Hours": "say: hello", "put ag_one " + file: "Greeting", "put ag_one " + file + " --name Hours": "Hours",
		"delete ag_one Booking": "Booking is deleted"} {
		if o := run("", append([]string{"case"}, strings.Fields(args)...)...); o.Status != command.ExitDone || !strings.Contains(o.Out+o.ErrOut, want) {
			t.Errorf("%s: exit status %d: %s%s", args, o.Status, o.Out, o.ErrOut)
		}
	}
	asked := strings.Join(s.Requests(), "\n")
	for _, want := range []string{"POST /v1/agents/ag_one/cases", "PUT /v1/agents/ag_one/cases/case_1", "DELETE /v1/agents/ag_one/cases/case_2"} {
		if !strings.Contains(asked, want) {
			t.Errorf("%s is not asked in\n%s", want, asked)
		}
	}
	if o := run("caller: 1\n---\nb: 2\n", "case", "put", "ag_one", "-"); o.Status != command.ExitUsage {
		t.Errorf("two documents: exit status %d: %s", o.Status, o.ErrOut)
	}
}
