package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/media/isolate/isolatetest"
)

// serving are the packages whose goroutines serve calls. There all of them are begun by
// package isolate, so that a panic ends one call and not the process.
var serving = []string{
	"pipeline",       // the conductor, its recogniser and functions
	"pipeline/reply", // engines of a reply
	"media/webrtc",   // sessions and their messages
	"media/record",   // recordings
	"api/webrtc",     // conversations over WebRTC
	"api/wsagent",    // and over the agent socket
	"sip",            // dialogs and transactions
	"sip/dialog",     // requests of one
	"sip/transport",  // the shared sockets and connections
	"sip/trunk",      // probes and registrations, beside all calls

	"cmd/parley/certificate/acme", // orders, beside all calls

	"inference",               // streams of one call
	"inference/openai",        // likewise
	"inference/pocketsphinx",  // likewise
	"inference/worker",        // the children that many calls share
	"pipeline/tool",           // a call's functions
	"pipeline/journal",        // what is written of a call
	"api/recording",           // what is noted of recordings
	"api/socket",              // sockets of other kinds
	"api/wstts",               // synthesis over one
	"cmd/parley/cluster",      // what nodes tell each other
	"cmd/parley/conversation", // how calls went on the wire
	"cmd/parley/inbound",      // calls that come in
	"cmd/parley/node",         // the end of a server
	"cmd/parley/outbound",     // calls that are placed, and batches
	"sip/mediasession",        // what both ends of one hear: what waits there is begun by sip
	"sip/simulated",           // phones and people to try it with
	"api/status",              // looks of strangers, in the process that has the calls
}

// bare lists the goroutines of a file that are begun by anything but package isolate.
func bare(set *token.FileSet, file *ast.File) (lines []int) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			lines = append(lines, set.Position(n.Pos()).Line)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
				if x, ok := sel.X.(*ast.Ident); !ok || x.Name != "isolate" {
					lines = append(lines, set.Position(n.Pos()).Line)
				}
			}
		}
		return true
	})
	return lines
}

func TestCallsHaveNoBareGoroutines(t *testing.T) {
	for _, path := range files(t, isGo) {
		if strings.HasSuffix(path, "_test.go") || !slices.Contains(serving, filepath.Dir(path)) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, read(t, path), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bare(set, file) {
			t.Errorf("%s:%d: begin it with isolate.Go, which keeps a panic in its call", path, line)
		}
	}
}

func TestBareGoroutineRule(t *testing.T) {
	set := token.NewFileSet()
	text := "package a\nfunc f() {\n\tgo g()\n\twork.Go(g)\n\tc.work.Go(g)\n\tisolate.Go(\"a/g\", nil, g)\n}\n"
	file, err := parser.ParseFile(set, "a.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := bare(set, file); !slices.Equal(got, []int{3, 4, 5}) {
		t.Error(got)
	}
}

// TestSites: each place that begins such a goroutine has a name of its own, which says where
// it is.
func TestSites(t *testing.T) {
	if sites := isolatetest.Sites(t, root(t)); len(sites) == 0 {
		t.Error("there are none")
	}
}

// TestPanicsAreProved: a package that begins such goroutines has a test that makes each
// of them fail.
func TestPanicsAreProved(t *testing.T) {
	proved := map[string]bool{}
	for _, path := range files(t, isGo) {
		if text := read(t, path); strings.HasSuffix(path, "_test.go") && strings.Contains(text, "isolatetest.Each(t, ") {
			proved[filepath.Dir(path)] = true
			for _, pkg := range below(t, path, text) {
				proved[pkg] = true
			}
		}
	}
	for _, s := range isolatetest.Sites(t, root(t)) {
		if pkg := s.Package(); !proved[pkg] {
			t.Errorf("%s: no test makes %s fail: prove it in %s with isolatetest.Each", s.Pos, s.Name, pkg)
		}
	}
}

// below lists the packages besides its own whose sites a test hands to isolatetest.Each.
func below(t *testing.T, path, text string) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 3 {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Each" {
			for _, arg := range call.Args[2:] {
				if l, ok := arg.(*ast.BasicLit); ok && l.Kind == token.STRING {
					list = append(list, strings.Trim(l.Value, `"`))
				}
			}
		}
		return true
	})
	return list
}
