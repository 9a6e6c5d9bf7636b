package wire_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"parley/api/wire"
)

// TestHeaders: what a program writes gets the names that calls keep, and nothing passes that would be another header.
func TestHeaders(t *testing.T) {
	t.Parallel()
	many, large := wire.CallHeaders{}, wire.CallHeaders{}
	for i := range wire.MaxHeaders + 1 {
		many[fmt.Sprintf("X-%d", i)] = ""
	}
	for i := range 9 {
		large[fmt.Sprintf("X-%d", i)] = strings.Repeat("a", 500)
	}
	long := "X-" + strings.Repeat("a", wire.MaxHeaderName-2)
	for name, tt := range map[string]struct {
		given, want wire.CallHeaders
		wrong       string
	}{
		"none":             {nil, nil, ""},
		"names in any way": {wire.CallHeaders{"x-customer-ID": " 42 ", "USER-TO-USER": "a;encoding=hex", long: ""}, wire.CallHeaders{"X-Customer-Id": "42", "User-to-User": "a;encoding=hex", "X-A" + long[3:]: ""}, ""},
		"another header":   {wire.CallHeaders{"From": "x"}, nil, "headers: names are X-"},
		"half a name":      {wire.CallHeaders{"X-": "x"}, nil, "headers: names are X-"},
		"a colon":          {wire.CallHeaders{"X-A: 1\r\nFrom": "x"}, nil, "headers: names are X-"},
		"a long name":      {wire.CallHeaders{long + "a": "x"}, nil, "headers: names are X-"},
		"a long value":     {wire.CallHeaders{"x-a": strings.Repeat("é", 257)}, nil, "headers.X-A: 514 bytes, allowed are 512"},
		"a line break":     {wire.CallHeaders{"X-A": "1\r\nFrom: x"}, nil, "headers.X-A: not a line of text"},
		"no text":          {wire.CallHeaders{"X-A": "\xff"}, nil, "headers.X-A: not a line of text"},
		"one name twice":   {wire.CallHeaders{"X-A": "1", "x-a": "2"}, nil, "headers.X-A: given twice"},
		"too many":         {many, nil, "headers: 21 of them, allowed are 20"},
		"too large":        {large, nil, "headers: more than 4096 bytes"},
	} {
		got, wrong := tt.given.Read()
		if !maps.Equal(got, tt.want) || (wrong == "") != (tt.wrong == "") || !strings.HasPrefix(wrong, tt.wrong) {
			t.Errorf("%s: %v, %q; want %v, %q", name, got, wrong, tt.want, tt.wrong)
		}
	}
}
