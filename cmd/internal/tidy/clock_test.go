package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ownClock are the packages of the control plane whose time is this machine's: that of
// media, of a connection, or of what a process shows of itself.
var ownClock = []string{"api/wsagent", "api/wsagent/client", "api/mediastream", "api/dashboard/voicetest", "api/dashboard/dashboardtest", "api/stt", "api/client", "api/wstts", "api/status"}

// isNow recognises time.Now(), and what it is rounded or moved to another zone by.
func isNow(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if x, ok := sel.X.(*ast.Ident); ok {
		return x.Name == "time" && sel.Sel.Name == "Now"
	}
	return slices.Contains([]string{"UTC", "Truncate", "Round", "In"}, sel.Sel.Name) && isNow(sel.X)
}

// machineTime lists the lines on which this machine's time is called the present, returned
// as it, or given to a function: there it would decide about something that others see. A
// moment from which, or until which, a process counts has another name: begun, until.
func machineTime(set *token.FileSet, file *ast.File) (lines []int) {
	found := func(e ast.Expr) {
		if isNow(e) {
			lines = append(lines, set.Position(e.Pos()).Line)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, arg := range n.Args {
				found(arg)
			}
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				found(e)
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if id, ok := to.(*ast.Ident); ok && id.Name == "now" && len(n.Lhs) == len(n.Rhs) {
					found(n.Rhs[i])
				}
			}
		}
		return true
	})
	return lines
}

func TestTimeIsTheDatabases(t *testing.T) {
	for _, path := range files(t, isGo) {
		dir := filepath.Dir(path)
		decides := strings.HasPrefix(path, "api/") || dir == "cmd/parley/node" || isPolicy(dir)
		if !decides || strings.HasSuffix(path, "_test.go") || slices.ContainsFunc(ownClock, func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") }) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, read(t, path), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range machineTime(set, file) {
			t.Errorf("%s:%d: take DB.Now, or name the moment of this process begun, asked, until", path, line)
		}
	}
}

func TestMachineTimeRule(t *testing.T) {
	const text = `package a
func f() time.Time {
	now := time.Now()
	begun := time.Now()
	db.Claim(ctx, time.Now().UTC().Truncate(time.Microsecond))
	c.SetReadDeadline(time.Now().Add(wait))
	took := time.Since(begun)
	return time.Now()
}
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "a.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(machineTime(set, file)); got != "[3 5 8]" {
		t.Error(got)
	}
}
