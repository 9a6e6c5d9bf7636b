package trunk_test

import (
	"slices"
	"strings"
	"testing"

	"parley/sip/carrier"
	"parley/sip/carrier/carriertest"
	"parley/sip/carrier/trunk"
)

func TestConformance(t *testing.T) {
	carriertest.Run(t, func(t *testing.T) (carrier.Carrier, carriertest.Controls) {
		p, err := trunk.New([]string{"+34911234567", "+442079460018"})
		if err != nil {
			t.Fatal(err)
		}
		return p, controls{p}
	})
}

// controls know that the calls of the list come by themselves.
type controls struct{ p *trunk.Trunk }

func (c controls) Country() string                                     { return "" }
func (c controls) Number(testing.TB, carriertest.Behaviour) string     { return "" }
func (c controls) Settle(testing.TB)                                   {}
func (c controls) Count(testing.TB) int                                { return len(c.p.Numbers()) }
func (c controls) Network(testing.TB, carriertest.Network) bool        { return false }
func (c controls) Owned(testing.TB, carrier.Carrier) (numberID string) { return c.p.Numbers()[0].ID }

func (c controls) Held(_ testing.TB, id string) (number string, routed bool) {
	for _, n := range c.p.Numbers() {
		if n.ID == id {
			return n.E164, true
		}
	}
	return "", false
}

func TestList(t *testing.T) {
	p, err := trunk.New([]string{"+34911234567", "+34911234567", "+15550100001"})
	if err != nil {
		t.Fatal(err)
	}
	list := p.Numbers()
	if len(list) != 2 || list[0].E164 != "+34911234567" || list[1].E164 != "+15550100001" {
		t.Fatalf("%+v", list)
	}
	other, err := trunk.New([]string{"+15550100001", "+34911234567"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		if strings.Contains(n.ID, n.E164[1:]) || !slices.Contains(other.Numbers(), n) {
			t.Errorf("%+v in another order: %+v", n, other.Numbers())
		}
	}
	list[0].ID = "changed"
	if p.Numbers()[0].ID == "changed" {
		t.Error("whoever is given the list can change it")
	}
	if _, err := trunk.New(nil); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"911234567", "+34 911234567", "nonsense", "+0911234567"} {
		if _, err := trunk.New([]string{bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
