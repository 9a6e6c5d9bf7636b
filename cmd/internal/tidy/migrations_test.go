package tidy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	numbered = 40 // from here on migrations have no gaps in their numbers; earlier ones are published with some
	careful  = 57 // from here on they wait for nobody's big table; earlier ones are published as they are
)

// misnumbered says what is wrong with the numbers of migrations, given in order.
func misnumbered(names []string) (wrong []string) {
	last := 0
	for _, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		n, err := strconv.Atoi(digits)
		switch {
		case err != nil || len(digits) != 5:
			wrong = append(wrong, fmt.Sprintf("%s: begin its name with a number of five digits", name))
			continue
		case n == last:
			wrong = append(wrong, fmt.Sprintf("%s: another migration has its number: give it the next free one", name))
		case n != last+1 && n > numbered:
			wrong = append(wrong, fmt.Sprintf("%s comes after number %d: leave no gap", name, last))
		}
		last = n
	}
	return wrong
}

var (
	sqlComment  = regexp.MustCompile(`--[^\n]*`)
	newTable    = regexp.MustCompile(`\bcreate (?:unlogged )?table (?:if not exists )?([\w.]+)`)
	newIndex    = regexp.MustCompile(`\bcreate (?:unique )?index (concurrently )?[^;]*?\bon (?:only )?([\w.]+)`)
	alteration  = regexp.MustCompile(`\balter table (?:if exists )?(?:only )?([\w.]+)([^;]*)`)
	constraint  = regexp.MustCompile(`\badd (?:constraint \w+ )?(?:check|foreign key)\b`)
	nextCommand = regexp.MustCompile(`, (?:add|alter|drop|validate|rename)\b`)
)

// hasty says where a migration would keep a table locked while it is read: indexes that are
// not made concurrently, and constraints that are checked at once. Tables that the file itself makes are empty.
func hasty(name, text string) (wrong []string) {
	alone := strings.Contains(text, "-- +goose NO TRANSACTION")
	up, _, _ := strings.Cut(text, "-- +goose Down")
	up = strings.Join(strings.Fields(strings.ToLower(sqlComment.ReplaceAllString(up, ""))), " ")
	var own []string
	for _, m := range newTable.FindAllStringSubmatch(up, -1) {
		own = append(own, m[1])
	}
	for _, m := range newIndex.FindAllStringSubmatch(up, -1) {
		if !slices.Contains(own, m[2]) && (m[1] == "" || !alone) {
			wrong = append(wrong, fmt.Sprintf("%s: make the index on %s concurrently, in a file with -- +goose NO TRANSACTION", name, m[2]))
		}
	}
	for _, m := range alteration.FindAllStringSubmatch(up, -1) {
		for _, at := range constraint.FindAllStringIndex(m[2], -1) {
			clause := m[2][at[0]:]
			if end := nextCommand.FindStringIndex(clause); end != nil {
				clause = clause[:end[0]]
			}
			if !slices.Contains(own, m[1]) && !strings.Contains(clause, "not valid") {
				wrong = append(wrong, fmt.Sprintf("%s: add the constraint of %s NOT VALID, and validate it in another migration", name, m[1]))
			}
		}
	}
	return wrong
}

func TestMigrations(t *testing.T) {
	var names []string
	for _, path := range files(t, func(p string) bool { return filepath.Dir(p) == "store/migrations" }) {
		name := filepath.Base(path)
		names = append(names, name)
		if name >= fmt.Sprintf("%05d", careful) {
			for _, wrong := range hasty(name, read(t, path)) {
				t.Error(wrong)
			}
		}
	}
	for _, wrong := range misnumbered(names) {
		t.Error(wrong)
	}
}

func TestMigrationNumberRule(t *testing.T) {
	got := misnumbered([]string{"00001_a.sql", "00003_b.sql", "00040_c.sql", "00041_d.sql", "00041_e.sql", "00042_f.sql", "00044_g.sql", "45_h.sql"})
	want := []string{"00041_e.sql: another migration has its number: give it the next free one",
		"00044_g.sql comes after number 42: leave no gap", "45_h.sql: begin its name with a number of five digits"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestMigrationLockRule(t *testing.T) {
	const alone = "-- +goose NO TRANSACTION\n"
	for _, tt := range []struct {
		text string
		want int
	}{
		{"create index a on calls (x);", 1},
		{"CREATE UNIQUE INDEX\n  a ON calls (x);", 1},
		{"create index if not exists a on calls (x);", 1},
		{"create index concurrently a on calls (x);", 1}, // in a transaction, where it fails
		{alone + "create index concurrently if not exists a on calls (x);", 0},
		{alone + "create index a on calls (x);", 1},
		{"create table mine (x int); create index a on mine (x);", 0},
		{"create table mine (x int); create index a on mine (x); create index b on calls (x);", 1},
		{"-- create index a on calls (x);", 0},
		{"alter table calls add constraint c check (x > 0);", 1},
		{"alter table only calls add column x int, add check (x > 0);", 1},
		{"alter table calls add constraint c foreign key (x) references y;", 1},
		{"alter table calls add constraint c check (x > 0) not valid;", 0},
		{"alter table calls add constraint c check (x > 0) not valid, add constraint d check (x > 1);", 1},
		{"alter table calls add constraint d check (x > 1), add constraint c check (x > 0) not valid;", 1},
		{"alter table calls validate constraint c;", 0},
		{"create table mine (x int); alter table mine add check (x > 0);", 0},
		{"-- +goose Up\nselect 1;\n-- +goose Down\ncreate index a on calls (x);", 0},
	} {
		if got := hasty("a.sql", tt.text); len(got) != tt.want {
			t.Errorf("%s: %q", tt.text, got)
		}
	}
}
