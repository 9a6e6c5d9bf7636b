package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestYAMLIsReadAsJSON: members keep their order, what JSON has no word for is a text, and
// what could grow or mean two things is refused with its line.
func TestYAMLIsReadAsJSON(t *testing.T) {
	for text, want := range map[string]string{
		"b: 1\na: [x, 2.50, true, ~]\n":          `{"b":1,"a":["x",2.50,true,null]}`,
		`{"z": {"y": "\ud83d\ude00"}, "a": 1e3}`: `{"z": {"y": "\ud83d\ude00"}, "a": 1e3}`,
		"when: 2026-11-23\nhex: 0x10\nno: no":    `{"when":"2026-11-23","hex":16,"no":"no"}`,
		"text: |\n  one\n  two\n":                `{"text":"one\ntwo\n"}`,
		"7: seven\ntrue: yes":                    `{"7":"seven","true":"yes"}`,
		"inf: .inf":                              `{"inf":".inf"}`,
		"":                                       `null`,
		"# nothing":                              `null`,
		"<b>: \"</script>\"":                     `{"\u003cb\u003e":"\u003c/script\u003e"}`,
	} {
		got, err := FromYAML(text)
		if err != nil || string(got) != want {
			t.Errorf("%q: %s %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a: &x 1\nb: *x":               "line 1: anchors",
		"a: 1\nb: 2\na: 3":             `line 3: "a" is there twice`,
		"[1]: 2":                       "line 1: a name must be a text",
		"a: 1\n---\nb: 2":              "more than one document",
		"a: [":                         "line 1: ",
		"a: !!bool perhaps":            "neither true nor false",
		strings.Repeat("- ", 70) + "x": "nested too deeply",
	} {
		got, err := FromYAML(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %s %v, want %s", text, got, err, want)
		}
	}
}

// TestJSONAsYAMLAndBack: nothing changes on the way through an editor.
func TestJSONAsYAMLAndBack(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `{"b":{"z":1,"a":[]},"a":"x"}`, `"true"`, `{"n":"12","y":"yes","d":"2026-01-01","e":"","s":" x ","c":"a: b # c"}`,
		`{"t":"one\n two\n\nthree\n"}`, `{"t":"\t\u0007\u0085\u2028 ends with space \n"}`, `{"big":123456789012345678901234567890,"f":0.10}`, `{"é":"😀"}`, `[null,true,-1.5e-7]`,
		`{"- x":"- y","? a":"!b","%":"@","~":"~","null":"null"}`, `{"long":"` + strings.Repeat("word ", 60) + `"}`} {
		file, err := YAML(json.RawMessage(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		back, err := FromYAML(file)
		if err != nil {
			t.Errorf("%s becomes %q: %v", text, file, err)
			continue
		}
		var a, b any
		_, _ = json.Unmarshal([]byte(text), &a), json.Unmarshal(back, &b)
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Errorf("%s becomes %q and then %s", text, file, back)
		}
	}
	if _, err := YAML(json.RawMessage(strings.Repeat("[", 70) + strings.Repeat("]", 70))); err == nil {
		t.Error("what is nested without end is written")
	}
}
