package billing

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestParseMoney(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Money
	}{
		{"0", 0}, {"5", 5 * USD}, {"0.25", 25 * Cent}, {"-2", -2 * USD}, {"0.000000001", Nano}, {"-0.000000075", -75},
		{"1.10", 1100 * USD / 1000}, {"9223372036.854775807", math.MaxInt64}, {"-0", 0}, {"007", 7 * USD},
	} {
		if got, err := ParseMoney(c.in); err != nil || got != c.want {
			t.Errorf("ParseMoney(%q) = %d, %v; want %d", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", "-", ".", ".5", "5.", "+5", "1e3", "1_000", "1,5", " 1", "1 ", "0x10", "--1", "1.-5", "٣",
		"0.0000000001", "9223372036.854775808", "99999999999999999999", "NaN", "1.2.3"} {
		if got, err := ParseMoney(in); !errors.Is(err, ErrMoney) {
			t.Errorf("ParseMoney(%q) = %d, %v; want ErrMoney", in, got, err)
		}
	}
}

func TestMoneyTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Money(rapid.Int64Min(math.MinInt64+1).Draw(t, "nano"))
		want := new(big.Rat).SetFrac64(int64(m), int64(USD))
		if got, ok := new(big.Rat).SetString(m.String()); !ok || got.Cmp(want) != 0 {
			t.Fatalf("%d prints as %s", int64(m), m)
		}
		if back, err := ParseMoney(m.String()); err != nil || back != m {
			t.Fatalf("%s reads back as %d, %v", m, back, err)
		}
	})
	if got := Money(math.MinInt64).String(); got != "-9223372036.854775808" {
		t.Error(got)
	}
}

func TestMoneyJSON(t *testing.T) {
	b, err := json.Marshal(map[string]Money{"balance": -5 * Cent})
	if err != nil || string(b) != `{"balance":-0.05}` {
		t.Fatalf("%s, %v", b, err)
	}
	var v struct{ A Money }
	if err := json.Unmarshal([]byte(`{"a": 0.1}`), &v); err != nil || v.A != 10*Cent {
		t.Errorf("%v, %v", v.A, err)
	}
	for _, in := range []string{`{"a": "0.1"}`, `{"a": 1e2}`, `{"a": 0.1234567891}`, `{"a": true}`} {
		if err := json.Unmarshal([]byte(in), &v); err == nil {
			t.Errorf("%s was read as %v", in, v.A)
		}
	}
}

func TestMoneyFloor(t *testing.T) {
	for _, c := range []struct{ in, unit, want Money }{
		{1_239_999_999, Cent, 1_230_000_000}, {1_230_000_000, Cent, 1_230_000_000}, {-1, Cent, -Cent},
		{-Cent, Cent, -Cent}, {0, Cent, 0}, {1_234_567, 1000, 1_234_000}, {math.MinInt64, Cent, math.MinInt64},
	} {
		if got := c.in.Floor(c.unit); got != c.want {
			t.Errorf("(%d).Floor(%d) = %d; want %d", c.in, c.unit, got, c.want)
		}
	}
}

func FuzzParseMoney(f *testing.F) {
	for _, s := range []string{"0.25", "-12.000000001", "1e9", "99999999999", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMoney(s)
		if err != nil {
			return
		}
		if back, err := ParseMoney(m.String()); err != nil || back != m {
			t.Fatalf("%q is %d, printed %s, read back %d, %v", s, m, m, back, err)
		}
	})
}
