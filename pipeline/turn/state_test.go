package turn

import (
	"encoding/json"
	"reflect"
	"testing"
)

// stored is a State that was stored and read again.
func stored(t interface{ Fatalf(string, ...any) }, s State) State {
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	var again State
	if err := json.Unmarshal(b, &again); err != nil || again != s {
		t.Fatalf("%+v was stored as %s and is %+v, %v", s, b, again, err)
	}
	return again
}

// TestStateIsAPlainValue: a State has nothing in it that cannot be stored, and few flags.
func TestStateIsAPlainValue(t *testing.T) {
	flags := 0
	var check func(path string, typ reflect.Type)
	check = func(path string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Struct:
			for f := range typ.Fields() {
				if !f.IsExported() {
					t.Errorf("%s.%s is not stored", path, f.Name)
				}
				check(path+"."+f.Name, f.Type)
			}
		case reflect.Bool:
			flags++
		case reflect.String, reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint64, reflect.Float64:
		default:
			t.Errorf("%s is a %s", path, typ)
		}
	}
	check("State", reflect.TypeFor[State]())
	if flags > 3 {
		t.Errorf("%d flags: more than three are a state machine that wants a name", flags)
	}
}
