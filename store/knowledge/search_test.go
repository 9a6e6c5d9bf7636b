package knowledge_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store/knowledge"
)

// TestSearch: words in all their forms, phrases, what is not wanted, and any of the words where no passage has all.
func TestSearch(t *testing.T) {
	f := setup(t)
	mine, other := f.account(), f.account()
	base, theirs, spanish := f.base(mine, "en-GB"), f.base(other, "en"), f.base(mine, "es")
	f.file(mine, base, "shop.txt",
		knowledge.Passage{Page: 3, Heading: "Opening hours", Text: "Monday to Friday from nine to five, Saturday until noon."},
		knowledge.Passage{Text: "Repairs of bicycles take two days. Electric bicycles take a week."},
		knowledge.Passage{Text: "Refunds are paid within fourteen days to the card that paid."},
		knowledge.Passage{Text: "The card of a customer is charged when a bicycle is handed over."})
	f.file(other, theirs, "theirs.txt", says("Refunds are never paid.")...)
	f.file(mine, spanish, "tienda.txt", says("Reparamos bicicletas en dos días.", "Los reembolsos se pagan en catorce días.")...)
	for _, tt := range []struct{ query, want string }{
		{"refund", "shop.txt:2"},
		{"What are your opening hours?", "shop.txt:0"},
		{"repairing a bicycle", "shop.txt:1 shop.txt:3"},
		{`"electric bicycles"`, "shop.txt:1 shop.txt:3"},
		{"bicycles -electric", "shop.txt:3"},
		{"is a tandem's repair paid by card", "shop.txt:2 shop.txt:1 shop.txt:3"},
		{"the of and", ""},
		{"  ", ""},
		{"'; drop table x; -- \x00 \xff & | ! ( :* <->", ""},
		{strings.Repeat("refund ", 1000), "shop.txt:2"},
	} {
		if got := f.find(mine, tt.query, base); got != tt.want {
			t.Errorf("%.60q finds %s, want %s", tt.query, got, tt.want)
		}
	}
	if got := f.find(mine, "la reparación de una bicicleta", spanish); got != "tienda.txt:0" {
		t.Errorf("in Spanish: %s", got)
	}
	if got := f.find(mine, "reembolso refund", spanish, base); got != "shop.txt:2 tienda.txt:1" && got != "tienda.txt:1 shop.txt:2" {
		t.Errorf("in two collections: %s", got)
	}
	if got := f.find(mine, "refund", theirs); got != "" {
		t.Errorf("in another account's: %s", got)
	}
	if got := f.find(mine, "refund", theirs, base, "kb_none", "x' | 'y"); got != "shop.txt:2" {
		t.Errorf("among others: %s", got)
	}
	found, err := f.Search(f.ctx(), mine, []string{base}, "hours on saturday", 1)
	f.ok(err)
	if len(found) != 1 || found[0].Page != 3 || found[0].Heading != "Opening hours" || found[0].Title != "shop.txt" || found[0].Base != base || found[0].Rank <= 1 {
		t.Errorf("%+v", found)
	}
}

// shelf is 1,000 pages in a collection, and as much in another account's: 5,000 passages each.
func shelf(f *fixture) (account, base string) {
	f.t.Helper()
	account = f.account()
	other := f.account()
	base = f.base(account, "en")
	fill := func(account, base string) {
		f.t.Helper()
		for d := range 10 {
			var passages []knowledge.Passage
			for p := range 500 {
				passages = append(passages, knowledge.Passage{Page: p/5 + 1, Heading: fmt.Sprintf("Article %d", d*500+p), Text: prose(d*500 + p)})
			}
			f.file(account, base, fmt.Sprintf("book%d.txt", d), passages...)
		}
	}
	fill(account, base)
	fill(other, f.base(other, "en"))
	f.ok(f.db.Do(f.ctx(), "analyze", "analyze knowledge_passages"))
	return account, base
}

// common are words that many passages have, as words of a language are: the first most often.
var common = strings.Fields(`customer order delivery payment return warranty invoice address contract account service price discount
	machine battery display button cable screen filter engine wheel brake light sensor update network password printer`)

// prose is a passage of about 800 characters, always the same.
func prose(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Part number %05d. ", n)
	state := uint32(n)*2654435761 + 1
	for b.Len() < 800 {
		state = state*1664525 + 1013904223
		w := common[int(state>>16)%len(common)*(int(state>>8)%len(common))/len(common)]
		fmt.Fprintf(&b, "the %s of item%d ", w, state>>20)
	}
	return b.String()
}

// TestSearchUsesTheIndex: among 10,000 passages of 2,000 pages, those of one collection are found by the index of words.
func TestSearchUsesTheIndex(t *testing.T) {
	f := setup(t)
	account, base := shelf(f)
	if got := f.find(account, "part number 01234", base); !strings.HasPrefix(got, "book2.txt:234 ") {
		t.Errorf("found %s", got)
	}
	for name, sql := range map[string]string{"all words": knowledge.SearchAll, "any word": knowledge.SearchAny} {
		rows, err := f.db.Pool().Query(f.ctx(), "explain "+sql, account, []string{base}, "warranty of the battery", knowledge.MaxFound, 20_000)
		f.ok(err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		f.ok(err)
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, "Bitmap Index Scan on knowledge_passages_words") || strings.Contains(text, "Seq Scan on knowledge_passages") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// TestMeasureSearch prints how long searches of 1,000 pages take, where PARLEY_MEASURE is set.
func TestMeasureSearch(t *testing.T) {
	if os.Getenv("PARLEY_MEASURE") == "" {
		t.Skip("PARLEY_MEASURE is not set")
	}
	f := setup(t)
	account, base := shelf(f)
	for name, query := range map[string]string{
		"one rare word": "01234", "all of three words": "warranty battery display", "any of the words of a sentence": "hello I wanted to ask whether the warranty covers the battery of my zeppelin too",
		"any of common words": "customer order delivery payment return zeppelin", "nothing": "zeppelin",
	} {
		var took []time.Duration
		for range 300 {
			began := time.Now()
			_, err := f.Search(f.ctx(), account, []string{base}, query, knowledge.MaxFound)
			f.ok(err)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		t.Logf("%s: p50 %v, p99 %v", name, took[150], took[297])
	}
}
