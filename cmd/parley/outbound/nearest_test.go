package outbound

import (
	"errors"
	"testing"

	"parley/api"
	"parley/billing"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
)

// TestNearest: the number that begins as the callee's for longest calls, of several the oldest; one that is only ordered does not,
// nor does another account's.
func TestNearest(t *testing.T) {
	db := storetest.New(t)
	if err := db.PutRateCard(t.Context(), billing.DefaultRateCard()); err != nil {
		t.Fatal(err)
	}
	books := ledger.New(db)
	d := &Dialler{Store: db, Numbers: numbers.New(db)}
	mine, err := books.CreateAccount(t.Context(), "A", db.RateCard())
	if err != nil {
		t.Fatal(err)
	}
	other, err := books.CreateAccount(t.Context(), "B", db.RateCard())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.nearest(t.Context(), mine.ID, nil)("+34911234567"); !errors.Is(err, api.ErrFrom) {
		t.Errorf("without a number: %v", err)
	}
	for _, n := range []struct{ account, e164 string }{{mine.ID, "+12125550100"}, {mine.ID, "+34911234567"}, {mine.ID, "+34931234567"}, {mine.ID, "+12025550100"}, {other.ID, "+442071234567"}} {
		if _, err := d.Numbers.Import(t.Context(), n.account, n.e164, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Pool().Exec(t.Context(), `update numbers set state = 'ordered', carrier = 'shop', order_ref = 'o', anchor_at = created_at, price_version = $1
		where e164 = '+34931234567'`, db.RateCard().Version()); err != nil {
		t.Fatal(err)
	}
	nearest := d.nearest(t.Context(), mine.ID, nil)
	for to, want := range map[string]string{
		"+34 911 999 999": "+34911234567", "+34931999999": "+34911234567", "+12025550199": "+12025550100", "+12125550199": "+12125550100",
		"+14165550100": "+12125550100", "+442071234568": "+12125550100", "nobody": "+12125550100",
	} {
		if n, err := nearest(to); err != nil || n.E164 != want {
			t.Errorf("%s is called from %v, %v; want %s", to, n, err, want)
		}
	}
	for to, want := range map[string]string{"+34911999999": "+12125550100", "+12125550199": "+12125550100"} {
		if n, err := d.nearest(t.Context(), mine.ID, map[string]bool{"+34911234567": true, "+12025550100": true})(to); err != nil || n.E164 != want {
			t.Errorf("while two rest %s is called from %v, %v; want %s", to, n, err, want)
		}
	}
	all := map[string]bool{"+34911234567": true, "+12025550100": true, "+12125550100": true}
	if n, err := d.nearest(t.Context(), mine.ID, all)("+34911999999"); err != nil || n.E164 != "+34911234567" {
		t.Errorf("while all rest it is called from %v, %v", n, err)
	}
}
