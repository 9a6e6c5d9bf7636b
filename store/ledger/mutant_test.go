package ledger_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A mutant is the ledger, or a package above it, with one guard taken out, and the test
// that must notice it.
type mutant struct {
	name    string
	patches []patch
	test    string // with the folder of its package, unless that is this one
}

// patch replaces a text that is in a file exactly once.
type patch struct{ file, old, new string }

// ownSeed has a mutant of the schema make a database of its own: the one that tests copy is of the migrations as they are.
var ownSeed = patch{"../storetest/seed.go", `"seed-"+hex`, `"mutant-"+hex`}

var mutants = []mutant{
	{"no lock of the wallet", []patch{{"tx.go", `where account_id = $1 for no key update"`, `where account_id = $1"`}},
		"TestTwoHundredStartsReachExactlyTheLimit"},
	{"a key may come twice", []patch{{"credit.go", `insertTransfer+" on conflict (idem, leg) do nothing"`, `insertTransfer`},
		{"../migrations/00002_ledger.sql", "create unique index ledger_transfers_once", "create index ledger_transfers_once"}},
		"TestOneTopupDeliveredFiftyTimes"},
	{"counters may fall", []patch{{"checkpoint.go", `", %s = greatest(s.%s, o.%s)", c, c, c`, `", %s = o.%s", c, c`}},
		"TestCheckpointsAreCumulative"},
	{"what has accrued may fall", []patch{{"checkpoint.go", "amount_nano = greatest(s.amount_nano, o.amount),", "amount_nano = o.amount,"}},
		"TestCheckpointsAreCumulative"},
	{"a checkpoint of any life counts", []patch{{"checkpoint.go", "u.node_epoch = c.epoch and u.open as mine", "c.epoch is not null and u.open as mine"}},
		"TestSessionsOfAnotherLifeAreFenced"},
	{"of a wallet's sessions one accrues", []patch{{"checkpoint.go", "coalesce(sum(used) filter (where not paid_only)", "coalesce(max(used) filter (where not paid_only)"}},
		"TestBatchedCheckpoints"},
	{"a session is reported for once at a time", []patch{{"checkpoint.go", "list = rest", "_, list = rest, nil"}}, "TestStoreBehavesLikeItsModel"},
	{"a report that is refused spoils the others", []patch{{"checkpoint.go", "case !store.Unfit(err):", "case store.Unfit(err) || true:"}}, "TestARefusedReportSpoilsNoOther"},
	{"a life that is over may close", []patch{{"close.go", "epoch != anyEpoch && s.epoch != epoch", "false"}},
		"TestSessionsOfAnotherLifeAreFenced"},
	{"a life that is over may start", []patch{{"sessions.go", "where node_id = $4 and epoch = $5 for key share", "where node_id = $4 and $5::bigint > 0 for key share"}},
		"TestANewLifeClosesWhatTheOldLeftOpen"},
	{"a number is sold to all who ask", []patch{{"../migrations/00001_accounts.sql", "create unique index numbers_in_use", "create index numbers_in_use"},
		{"../migrations/00094_numbers_of_trunks.sql", "create unique index concurrently if not exists numbers_on_lines", "create index concurrently if not exists numbers_on_lines"},
		{"../migrations/00094_numbers_of_trunks.sql", "create unique index concurrently if not exists numbers_of_account", "create index concurrently if not exists numbers_of_account"}},
		"../numbers/TestFiftyPurchasesAtOnce"},
	{"purchases do not see each other", []patch{{"../numbers/order.go", "pots.PaidLeft()-held < price", "pots.PaidLeft() < price"}},
		"../numbers/TestPurchaseIsRefused"},
	{"a month is paid by overdraft", []patch{{"../numbers/month.go", "w.Pots().PaidLeft()-held >= price", "w.Pots().PaidLeft()-held >= -price"}},
		"../numbers/TestOverdraftPaysNoMonths"},
	{"a month is paid in a dispute", []patch{{"../numbers/month.go", "return w.Frozen() == nil && ", "return "}},
		"../numbers/TestDisputeDuringGrace"},
	{"a lost number is answered", []patch{{"../numbers/numbers.go", `working = "state in ('owned', 'grace')"`, `working = "state in ('owned', 'grace', 'releasing')"`}},
		"../numbers/TestGraceLastsThirtyDays"},
	{"an order is charged each time it is settled", []patch{{"../numbers/order.go", "case m.ActivatedAt != nil:", "case false:"},
		{"../numbers/order.go", "if m.Period == 0 {\n\t\tm.charge", "if true {\n\t\tm.charge"}},
		"../numbers/TestOrderIsHeldThenCharged"},
	{"calls are placed as fast as anybody asks", []patch{{"wallet.go", "if full.Sub(w.now) > dialBurst*dialEvery {", "if false {"}}, "TestDialRateHoldsAcrossNodes"},
	{"work after calls does not see other such work", []patch{{"afterwards.go", "w.pots.Covers(held+cost,", "w.pots.Covers(0*held+cost,"}}, "TestWorkAfterACallIsHeld"},
	{"an old rate card is in force", []patch{{"../ratecards.go", `" desc limit 1"`, `" limit 1"`}}, "TestOneRateCardIsInForce"},
	{"a read of any age counts", []patch{{"../payments/payments.go", "if read.Version > t.ReadVersion {", "if true {"}}, "TestStoreBehavesLikeItsModel"},
	{"an event counts each time", []patch{{"../payments/payments.go", "return tag.RowsAffected() == 1, err\n}\n\n// reconciling", "_ = tag; return true, err\n}\n\n// reconciling"}},
		"../payments/TestAnEventCountsOnce"},
	{"a refund on its way is not known", []patch{{"../payments/payments.go", "max(p.Refunded, promised)", "p.Refunded + 0*promised"}}, "TestStoreBehavesLikeItsModel"},
	{"a refund of what is spent", []patch{{"../payments/refunds.go", "amount > pots.PaidLeft()-pots.Held:", "amount > pots.PaidLeft()+amount:"}}, "../payments/TestRefundsAndUsageMeet"},
	{"a posting leaves money in its pot", []patch{{"wallet.go", "w.add(t.debit, -t.amount)", "w.add(t.debit, 1-t.amount)"}}, "TestConcurrentClosesAndCheckpoints"},
	{"credit that ends last is used first", []patch{{"lots.go", "return a.Expires.Compare(b.Expires)", "return b.Expires.Compare(a.Expires)"}},
		"TestLotsAreUsedSoonestExpiryFirst"},
	{"credit does not end", []patch{{"lots.go", "if w.now.Before(l.Expires) {", "if true {"}}, "TestExpiryDuringASession"},
	{"the floor is a little lower", []patch{{"sessions.go", "-p.Held <= -s.Card", "-p.Held < -s.Card"}}, "TestLineMinuteStopsAtTheFloor"},
	{"a minute of any life counts", []patch{{"minutes.go", "call.Epoch != s.Node.Epoch", "false"}}, "TestSessionsOfAnotherLifeAreFenced"},
	{"minutes of a round do not see each other", []patch{{"minutes.go", "w.pots.Held += price", "w.pots.Held += 0"}}, "TestMinutesTogether"},
	{"of a limited key's minutes one is held", []patch{{"minutes.go", "key.Held += price", "key.Held += 0"}}, "TestMinutesTogether"},
	{"admissions leave one out", []patch{{"sessions.go", "w.admissions++", "w.admissions += 2"}}, "TestConcurrentClosesAndCheckpoints"},
	{"minutes that were asked for need no usage", []patch{{"verify/evidence.go", "10000 - %[1]d and not lost", "10000 - %[1]d and not lost and false"}},
		"TestVerifyComparesWithEvidence"},
}

// TestMutantsFit: what a mutant replaces is there, once.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		for _, p := range append(m.patches, ownSeed) {
			text, err := os.ReadFile(p.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), p.old); n != 1 {
				t.Errorf("%s: %s has %q %d times", m.name, p.file, p.old, n)
			}
		}
	}
}

// TestSoakMutants proves that the tests can fail: each mutant is compiled, without
// touching the files, and its test run.
func TestSoakMutants(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			folder, test := filepath.Split(m.test)
			if m.ofSchema() {
				m.patches = append(m.patches, ownSeed)
				defer removeSeed(t)
			}
			run := exec.Command("go", "test", "-count", "1", "-run", "^"+test+"$", "-overlay", m.overlay(t), cmp.Or(folder, "."))
			out, err := run.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: "+test) {
				t.Errorf("%s does not notice: %v\n%s", m.test, err, out)
			}
		})
	}
}

// ofSchema says whether a migration is changed.
func (m mutant) ofSchema() bool {
	return slices.ContainsFunc(m.patches, func(p patch) bool { return strings.HasPrefix(p.file, "../migrations/") })
}

// removeSeed removes the database that a mutant of the schema has made.
func removeSeed(t *testing.T) {
	made, err := filepath.Glob("../../bin/mutant-*")
	for _, dir := range made {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		t.Error(err)
	}
}

// overlay writes the files that have other contents and the list of them that the
// compiler takes.
func (m mutant) overlay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for _, p := range m.patches {
		path, err := filepath.Abs(p.file)
		if err != nil {
			t.Fatal(err)
		}
		from := path
		if patched, ok := replace[path]; ok { // by the patch before
			from = patched
		}
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), p.old); n != 1 {
			t.Fatalf("%s has %q %d times", p.file, p.old, n)
		}
		replace[path] = filepath.Join(dir, filepath.Base(p.file))
		if err := os.WriteFile(replace[path], []byte(strings.Replace(string(text), p.old, p.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
