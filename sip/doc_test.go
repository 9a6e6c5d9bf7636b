package sip_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// states are the constants of a type of states, as the tables of the package comment call them.
func states(t *testing.T, file, kind, prefix string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		consts, ok := d.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST {
			continue
		}
		if of, ok := consts.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident); !ok || of.Name != kind {
			continue
		}
		for _, s := range consts.Specs {
			name := strings.TrimPrefix(s.(*ast.ValueSpec).Names[0].Name, prefix)
			names = append(names, strings.ToLower(strings.ReplaceAll(name, "BackOff", "back-off")))
		}
	}
	return names
}

// TestTables: the tables of the package comment have the states of the code, and no others.
func TestTables(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, text := range strings.Split(parsed.Doc.Text(), "\n# ")[1:] {
		title, rest, _ := strings.Cut(text, "\n")
		sections[title] = rest
	}
	columns := regexp.MustCompile(`(?m)^\t(\S+)  .*  (\S+)$`)
	for _, table := range []struct {
		title, file, kind, prefix string
		words                     []string // that stand for several states, or for the end of a goroutine
	}{
		{"Calls", "call.go", "state", "", []string{"any"}},
		{"Client INVITE", "client_invite.go", "clientState", "client", []string{"answered", "both", "ended"}},
		{"Modification", "modification.go", "modState", "mod", []string{"any", "same"}},
		{"Transfer", "transfer.go", "transferState", "transfer", nil},
	} {
		seen := map[string]bool{}
		for _, row := range columns.FindAllStringSubmatch(sections[table.title], -1) {
			seen[row[1]], seen[row[2]] = true, true
		}
		delete(seen, "state") // the head of the table
		delete(seen, "next")
		got := slices.Sorted(maps.Keys(seen))
		want := append(states(t, table.file, table.kind, table.prefix), table.words...)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s has the states %q, the code %q", table.title, got, want)
		}
	}
}
