package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store/storetest"
)

// numbersLived is a database with numbers in every state; it returns its URL.
func numbersLived(t *testing.T) (*fixture, string) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	acc, poor := f.NewAccount(60*usd), f.NewAccount(16*usd)
	f.Buy(acc, "+34911000001", t0) // owned, two months
	ordered, err := f.Order(acc, "+34911000002", t0)
	f.OK(err)
	f.CarrierSays(ordered, carrier.Pending, t0)
	failed, err := f.Order(acc, "+34911000003", t0)
	f.OK(err)
	f.CarrierSays(failed, carrier.Pending, t0)
	f.CarrierSays(failed, carrier.Failed, t0)
	gone := f.Buy(acc, "+34911000004", t0)
	f.OK(f.Numbers.Release(f.At(t0.Add(time.Hour)), acc, gone.ID))
	f.OK(f.Numbers.FinishRelease(f.Context(), gone.ID))
	f.OK(f.Numbers.Release(f.At(t0.Add(time.Hour)), acc, f.Buy(acc, "+34911000005", t0).ID)) // releasing
	f.Buy(poor, "+34911000006", t0)
	f.Buy(poor, "+34911000007", t0)
	f.Buy(poor, "+34911000008", t0)
	f.Months(billing.Month(t0, 1)) // poor's are in grace
	_, err = f.Numbers.Import(f.Context(), acc, "+34911234567", f.NewAgent(acc).ID)
	f.OK(err)
	_, err = f.Order(acc, "+34911000009", t0) // ordering
	f.OK(err)
	r := f.Request(acc, inboundES)
	r.To = "+34911000004"
	s, err := f.StartSession(f.At(t0.Add(time.Minute)), r)
	f.OK(err)
	f.CloseWith(s, billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000})
	f.Verified()
	return f, url
}

const (
	first = `number_id = (select id from numbers where e164 = '+34911000001')`
	grace = `id = (select min(id) from numbers where state = 'grace')`
)

var numberDamages = []damage{
	{4, "a hold that nobody knows of", `update numbers set held_nano = 0`},
	{4, "a hold of a number that is paid", `alter table numbers drop constraint numbers_hold; update numbers set held_nano = 1 where state = 'owned' and carrier <> ''`},
	{8, "a month on bonus", `update ledger_transfers set debit = 'bonus' where credit = 'revenue:number' and seq = (select min(seq) from ledger_transfers where credit = 'revenue:number')`},
	{10, "a month that the ledger has not", `delete from ledger_transfers where idem = (select format('num:%s:2', number_id) from number_charges where ` + first + ` and period_no = 2)`},
	{10, "a month for less", `update number_charges set amount_nano = amount_nano - 1 where ` + first + ` and period_no = 1`},
	{10, "a month by another card", `update number_charges set price_version = '2020-01-01.1' where ` + first + ` and period_no = 1`},
	{10, "a month twice", `insert into number_charges select number_id, 3, account_id, due_at, charged_at, 0, price_version, null from number_charges where ` + first + ` and period_no = 2`},
	{10, "a month on another day", `update number_charges set due_at = due_at + interval '1 day' where ` + first + ` and period_no = 2`},
	{10, "a month that is counted twice", `update numbers set period_no = period_no + 1 where state = 'ordered'`},
	{10, "a next month on another day", `update numbers set next_charge_at = next_charge_at + interval '1 second' where e164 = '+34911000001'`},
	{10, "a month that was given back for nothing", `update number_charges set refunded_at = charged_at where ` + first + ` and period_no = 1`},
	{10, "a transfer of no month", `update ledger_transfers set idem = 'num:x:1' where idem like 'num:%:back'`},
	{10, "a free number that costs", `alter table numbers drop constraint numbers_free; alter table numbers drop constraint numbers_charged; update numbers set charge_at = created_at where carrier = ''`},
	{17, "a longer grace", `update numbers set grace_until = grace_until + interval '1 second' where ` + grace},
	{17, "a try after the grace", `update numbers set charge_at = grace_until + interval '1 second' where ` + grace},
	{17, "a month after the end", `update numbers set released_at = '2026-03-15' where e164 = '+34911000001'`},
	{17, "a lost number to be charged", `alter table numbers drop constraint numbers_charged; update numbers set charge_at = released_at where e164 = '+34911000004'`},
	{17, "a number that never came and was paid", `update number_charges set refunded_at = null where refunded_at is not null`},
	{18, "a lost number with an agent", `alter table numbers drop constraint numbers_lost; update numbers set agent_id = 'ag_x' where state = 'releasing'`},
	{18, "a number of two accounts", `drop index numbers_in_use; drop index numbers_of_account; update numbers set e164 = '+34911000001' where e164 = '+34911000002'`},
	{18, "a call to a lost number", `update numbers set released_at = '2026-03-01' where e164 = '+34911000004'`},
}

// Each check must notice its kind of damage.
func TestVerifyNoticesWhatIsWrongWithNumbers(t *testing.T) {
	f, whole := numbersLived(t)
	f.Close() // a database is copied when nobody is connected
	for _, invariant := range []int{4, 8, 10, 17, 18} {
		t.Run(fmt.Sprint(invariant), func(t *testing.T) {
			url := storetest.Copy(t, whole)
			conn, err := pgx.Connect(t.Context(), url)
			f.OK(err)
			defer conn.Close(t.Context())
			_, err = conn.Exec(t.Context(), "set session_replication_role = replica") // no triggers, no foreign keys
			f.OK(err)
			db := storetest.Open(t, url)
			known := map[string]bool{}
			for _, d := range numberDamages {
				if d.invariant != invariant {
					continue
				}
				_, err = conn.Exec(t.Context(), d.sql)
				f.OK(err)
				if fresh := newViolations(t, db, known); !slices.Contains(fresh, invariant) {
					t.Errorf("%s: no new violation of %d; new are those of %v", d.name, invariant, fresh)
				}
			}
		})
	}
}

// The database refuses by itself what no code of ours may write.
func TestNumbersRefuseNonsense(t *testing.T) {
	f, url := numbersLived(t)
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())
	for _, sql := range []string{
		`update numbers set state = 'lost'`,
		`update numbers set state = 'grace' where state = 'owned'`,
		`update numbers set charge_at = null where state = 'grace'`,
		`update numbers set charge_at = created_at where state = 'released'`,
		`update numbers set charge_at = created_at where carrier = ''`,
		`update numbers set held_nano = 1 where state = 'owned'`,
		`update numbers set released_at = null where state = 'releasing'`,
		`update numbers set order_ref = 'same' where carrier <> ''`,
		`update numbers set e164 = '+34911000001'`,
		`insert into number_charges select * from number_charges`,
		`update number_charges set refunded_at = charged_at where period_no = 2`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err == nil {
			t.Errorf("accepted: %s", sql)
		}
	}
	f.Verified()
}
