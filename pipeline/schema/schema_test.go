package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/pipeline/schema"
)

// order has something of everything.
var order = schema.Object("", map[string]*schema.Schema{
	"name":  {Type: "string", MinLength: 1, MaxLength: 5},
	"code":  {Type: "string", MinLength: 3, Pattern: `^[A-Z]*$`, Form: "must be in capitals"},
	"size":  schema.OneOf("", "small", "large"),
	"count": schema.Whole("", 1, 9),
	"least": {Type: "number", Minimum: new(0.5)},
	"most":  {Type: "number", Maximum: new(2.0)},
	"paid":  schema.Flag(""),
	"tags":  schema.List("", 2, schema.Text("", 3)),
	"who":   schema.OneOrMore("", 2, &schema.Schema{Type: "string", MinLength: 1}),
	"notes": {Type: "object", MaxProperties: 2, Others: schema.Text("", 3), PropertyNames: &schema.Schema{Pattern: `^[a-z]+$`, Form: "must be small letters"}},
	"any":   {},
	"free":  {Type: "object"},
}, "name")

// TestMistakes: each is named by its path, in a sentence, and nothing is one that is not.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ text, wrong string }{
		{`{"name":"Eve"}`, ""},
		{`{"name":"Eve","code":"ABC","size":"large","count":9,"least":0.5,"most":-3,"paid":false,"tags":["a","b"],"who":"x","notes":{"a":"b"},"any":[null,{}],"free":{"x":1}}`, ""},
		{`{"name":"Eve","who":["x","y"],"count":1,"tags":[]}`, ""},
		{`{"name":"Éééé́"}`, ""}, // characters, not bytes
		{`{}`, "order.name: is missing"},
		{`[]`, "order: a list, must be an object"},
		{`null`, "order: null, must be an object"},
		{`7`, "order: 7, must be an object"},
		{`{"name":"Eve"} 8`, "order: more than one JSON value"},
		{`{"name":""}`, "order.name: is empty"},
		{`{"name":"Eve the first"}`, "order.name: 13 characters, allowed are 5"},
		{`{"name":null}`, "order.name: null, must be a text"},
		{`{"name":true}`, "order.name: true, must be a text"},
		{`{"name":{}}`, "order.name: an object, must be a text"},
		{`{"name":"E","code":"AB"}`, "order.code: 2 characters, needed are 3"},
		{`{"name":"E","code":"abc"}`, `order.code: "abc", must be in capitals`},
		{`{"name":"E","size":"tiny"}`, `order.size: "tiny", allowed are small and large`},
		{`{"name":"E","count":0}`, "order.count: 0, allowed are 1 to 9"},
		{`{"name":"E","count":10}`, "order.count: 10, allowed are 1 to 9"},
		{`{"name":"E","count":1.5}`, "order.count: 1.5, must be a whole number"},
		{`{"name":"E","count":"2"}`, "order.count: a text, must be a whole number"},
		{`{"name":"E","least":0.4}`, "order.least: 0.4, must be 0.5 or more"},
		{`{"name":"E","most":2.1}`, "order.most: 2.1, must be 2 or less"},
		{`{"name":"E","least":1e999}`, "order.least: 1e999, is not a number that can be kept"},
		{`{"name":"E","paid":"yes"}`, "order.paid: a text, must be true or false"},
		{`{"name":"E","tags":["a","b","c"]}`, "order.tags: 3 entries, allowed are 2"},
		{`{"name":"E","tags":["a","long"]}`, "order.tags[1]: 4 characters, allowed are 3"},
		{`{"name":"E","tags":"a"}`, "order.tags: a text, must be a list"},
		{`{"name":"E","who":7}`, "order.who: 7, must be a text or a list"},
		{`{"name":"E","who":""}`, "order.who: is empty"},
		{`{"name":"E","who":["x",""]}`, "order.who[1]: is empty"},
		{`{"name":"E","who":["x","y","z"]}`, "order.who: 3 entries, allowed are 2"},
		{`{"name":"E","notes":{"a":"b","c":"d","e":"f"}}`, "order.notes: 3 entries, allowed are 2"},
		{`{"name":"E","notes":{"A":7}}`, `order.notes.A: "A", must be small letters`},
		{`{"name":"E","notes":{"a":"four"}}`, "order.notes.a: 4 characters, allowed are 3"},
		{`{"name":"E","nmae":"x","Name":"y"}`, "order.Name: is not known; order.nmae: is not known"},
		{`{"count":0,"size":7,"x":1}`, "order.name: is missing; order.count: 0, allowed are 1 to 9; order.size: 7, must be a text; order.x: is not known"},
	} {
		wrong := order.Read("order", []byte(tt.text))
		if got := wrong.Error(); got != tt.wrong {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.wrong)
		}
		if (wrong.Err() == nil) != (tt.wrong == "") {
			t.Errorf("%s is the error %v", tt.text, wrong.Err())
		}
	}
	for _, text := range []string{"", "{", `{"name":"Eve"`, "\xff"} {
		if got := order.Read("order", []byte(text)).Error(); !strings.HasPrefix(got, "order: is no JSON: ") {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestWithin: a field, what is in it, and not its neighbours.
func TestWithin(t *testing.T) {
	var m schema.Mistakes
	m.Add("a.b[0].c", "x")
	for path, in := range map[string]bool{"a": true, "a.b": true, "a.b[0]": true, "a.b[0].c": true, "a.b[0].c.d": false, "a.bb": false, "b": false, "a.b[1]": false} {
		if m.Within(path) != in {
			t.Errorf("%s: %v", path, !in)
		}
	}
}

// TestManyMistakes are counted, and what was written is repeated in part only.
func TestManyMistakes(t *testing.T) {
	list := schema.List("", 0, schema.Flag(""))
	text := list.Read("l", []byte("["+strings.TrimSuffix(strings.Repeat("7,", 30), ",")+"]")).Error()
	if !strings.HasSuffix(text, "l[19]: 7, must be true or false; and 10 more") {
		t.Error(text)
	}
	long := order.Read("o", []byte(`{"name":"E","size":"`+strings.Repeat("é", 500)+`","`+strings.Repeat("k", 500)+`":1}`)).Error()
	if len(long) > 300 || !strings.Contains(long, "…") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}

// The schema as it is published takes and refuses the same, as a library that is not ours
// reads it.
func TestPublished(t *testing.T) {
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	other, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"name":"Eve"}`, `{"name":"E","who":"x"}`, `{"name":"E","who":["x"]}`, `{"name":"E","who":[""]}`, `{"name":"E","who":{}}`,
		`{"name":"E","code":"AB"}`, `{"name":"E","least":0}`, `{"name":"E","most":3}`, `{"name":"E","count":1.5}`, `{"name":"E","notes":{"A":"b"}}`, `{"x":1}`, `[]`} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if ours, theirs := order.Read("", []byte(text)).Err(), other.Validate(value); (ours == nil) != (theirs == nil) {
			t.Errorf("%s: %v, and theirs says %v", text, ours, theirs)
		}
	}
}

// TestParse reads schemas that people write, and says what it cannot check.
func TestParse(t *testing.T) {
	deep := `{"type":"string"}`
	for range 7 {
		deep = `{"type":"object","properties":{"a":` + deep + `}}`
	}
	for _, tt := range []struct{ text, wrong string }{
		{`{"type":"object","properties":{"day":{"type":"string"}}}`, ""},
		{`{"type":"object","title":"T","description":"D","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"array","maxItems":3,"items":{"type":"string","enum":["x"]}},
			"b":{"type":"number","minimum":-1.5,"maximum":2},"c":{"type":"string","minLength":1,"maxLength":9},"d":{"type":"boolean"},"e":{"type":"object"}}}`, ""},
		{`{"type":"object"}`, "s: must be of type object, with properties"},
		{`{"type":"object","properties":{}}`, "s: must be of type object, with properties"},
		{`{"type":"array","items":{"type":"string"}}`, "s: must be of type object, with properties"},
		{`"x"`, "s: a text, must be an object"},
		{`{"properties":{"a":{}}}`, "s.type: is missing; s.properties.a.type: is missing"},
		{`{"type":"object","properties":{"a":{"type":["string","null"]}}}`, "s.properties.a.type: a list, must be a text"},
		{`{"type":"object","properties":{"a":{"type":"date"}}}`, `s.properties.a.type: "date", allowed are object, array, string, integer, number and boolean`},
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"^x*$","$ref":"#"}}}`, "s.properties.a.$ref: is not known; s.properties.a.pattern: is not known"},
		{`{"type":"object","properties":{"a":{"type":"integer","enum":["1"]}}}`, "s.properties.a.enum: is for type string"},
		{`{"type":"object","properties":{"a":{"type":"string","enum":[1]}}}`, "s.properties.a.enum[0]: 1, must be a text"},
		{`{"type":"object","properties":{"a":{"type":"number","minimum":2,"maximum":1}}}`, "s.properties.a.minimum: is above maximum"},
		{`{"type":"object","properties":{"a":{"type":"string","minLength":2,"maxLength":1}}}`, "s.properties.a.minLength: is above maxLength"},
		{`{"type":"object","properties":{"a":{"type":"string","maxLength":0}}}`, "s.properties.a.maxLength: 0, allowed are 1 to 100000"},
		{`{"type":"object","required":["b"],"properties":{"a":{"type":"string"}}}`, `s.required[0]: "b" is none of the properties`},
		{`{"type":"object","properties":{"a\n":{"type":"string"}}}`, "s.properties.a\n: \"a\\n\", must be one line"},
		{`{"type":"object","properties":{"a":null}}`, "s.properties.a: null, must be an object"},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"x"}}}}`, `s.properties.a.items.type: "x", allowed are object, array, string, integer, number and boolean`},
		{deep, "s.properties.a.properties.a.properties.a.properties.a.properties.a.properties.a: more than 6 levels"},
		{`{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("x", schema.MaxWritten) + `"}}}`, fmt.Sprintf("s: %d bytes, allowed are %d", schema.MaxWritten+71, schema.MaxWritten)},
	} {
		s, wrong := schema.Parse("s", []byte(tt.text))
		if got := wrong.Error(); got != tt.wrong || (s == nil) != (tt.wrong != "") {
			t.Errorf("%.200s\n got %s\nwant %s", tt.text, got, tt.wrong)
		}
	}
	var many strings.Builder
	for i := range 51 {
		fmt.Fprintf(&many, `,"p%d":{"type":"string"}`, i)
	}
	if _, wrong := schema.Parse("s", []byte(`{"type":"object","properties":{`+many.String()[1:]+`}}`)); wrong.Error() != "s.properties: 51 entries, allowed are 50" {
		t.Error(wrong)
	}
}

// TestAnswer takes the object out of what models write, and only one that fits.
func TestAnswer(t *testing.T) {
	s, wrong := schema.Parse("s", []byte(`{"type":"object","required":["day"],"properties":{"day":{"type":"string","enum":["Monday","Friday"]},"people":{"type":"integer","minimum":1},
		"who":{"type":"object","additionalProperties":false,"properties":{"name":{"type":"string"}}},"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}}}}`))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for _, tt := range []struct{ text, data, wrong string }{
		{`{"day":"Friday","people":4}`, `{"day":"Friday","people":4}`, ""},
		{"Here it is:\n```json\n{\"day\": \"Friday\"}\n```\n", `{"day":"Friday"}`, ""},
		{`{"day":"Friday","people":null,"who":{"name":null},"list":[{"a":null}],"more":null}`, `{"day":"Friday","list":[{}],"more":null,"who":{}}`, ""},
		{`{"day":"Friday","people":12345678901234567}`, `{"day":"Friday","people":12345678901234567}`, ""}, // no float loses digits
		{`{"day":null}`, "", "data.day: null, must be a text"},
		{`{"day":"Sunday","people":0,"who":{"x":1}}`, "", `data.day: "Sunday", allowed are Monday and Friday; data.people: 0, must be 1 or more; data.who.x: is not known`},
		{`{}`, "", "data.day: is missing"},
		{`[{"day":"Friday"}]`, `{"day":"Friday"}`, ""},
		{`{"day":"Friday"} and {"day":"Monday"}`, "", "data: is no JSON object"},
		{`Friday`, "", "data: is no JSON object"},
		{``, "", "data: is no JSON object"},
		{`}{`, "", "data: is no JSON object"},
		{`{"day":"Friday"`, "", "data: is no JSON object"},
		{`{"day":"` + strings.Repeat("x", 70_000) + `"}`, "", "data: is too long"},
	} {
		data, wrong := s.Answer("data", tt.text)
		if string(data) != tt.data || wrong.Error() != tt.wrong {
			t.Errorf("%.100s\n got %s, %s\nwant %s, %s", tt.text, data, wrong, tt.data, tt.wrong)
		}
	}
}
