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

// maxFlags is how many flags a type may have: their combinations are its states, and more
// than eight want names. What it embeds and structs without methods that it holds by value
// count as its own; a struct with methods looks after its state itself. Exported fields do
// not count: they are the content of a value, which others set and read.
const maxFlags = 3

// declared is what a package declares: its struct types, and which of its types have methods.
type declared struct {
	structs map[string]*ast.StructType
	methods map[string]bool
}

// count sums what the fields of a type count for, by their types: of what it embeds, and of
// structs without methods that it holds by value, each field. private leaves out exported ones.
func (all declared) count(s *ast.StructType, private bool, counts func(ast.Expr) int) int {
	n := 0
	for _, f := range s.Fields.List {
		if private && len(f.Names) > 0 && f.Names[0].IsExported() {
			continue
		}
		each := 0
		if inner := all.inner(f); inner != nil {
			each = all.count(inner, private, counts)
		} else {
			each = counts(f.Type)
		}
		n += each * max(1, len(f.Names))
	}
	return n
}

// inner is the struct whose fields count as those of the one that has the field f; nil: it
// counts as one.
func (all declared) inner(f *ast.Field) *ast.StructType {
	switch typ := f.Type.(type) {
	case *ast.Ident:
		if f.Names == nil || !all.methods[typ.Name] {
			return all.structs[typ.Name]
		}
	case *ast.StructType:
		return typ
	}
	return nil
}

// flag counts flags.
func flag(of ast.Expr) int {
	switch typ := of.(type) {
	case *ast.Ident:
		if typ.Name == "bool" {
			return 1
		}
	case *ast.SelectorExpr:
		if x, ok := typ.X.(*ast.Ident); ok && x.Name == "atomic" && typ.Sel.Name == "Bool" {
			return 1
		}
	}
	return 0
}

// maxFields is how many fields types may have that much of their package goes through.
var maxFields = map[string]int{"pipeline.Call": 20}

// declarations are those of some files of one package.
func declarations(files []*ast.File) declared {
	all := declared{map[string]*ast.StructType{}, map[string]bool{}}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.TypeSpec:
				if s, ok := d.Type.(*ast.StructType); ok {
					all.structs[d.Name.Name] = s
				}
			case *ast.FuncDecl:
				if d.Recv != nil {
					all.methods[receiver(d.Recv.List[0].Type)] = true
				}
			}
			return true
		})
	}
	return all
}

// crowded lists the types of the package pkg that have too many flags or fields.
func crowded(pkg string, files []*ast.File) []string {
	all := declarations(files)
	var found []string
	for name, s := range all.structs {
		if n := all.count(s, true, flag); n > maxFlags {
			found = append(found, fmt.Sprintf("%s has %d flags, %d at most", name, n, maxFlags))
		}
		most, n := maxFields[pkg+"."+name], all.count(s, false, func(ast.Expr) int { return 1 })
		if most > 0 && n > most {
			found = append(found, fmt.Sprintf("%s has %d fields, %d at most", name, n, most))
		}
	}
	slices.Sort(found)
	return found
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch typ := e.(type) {
	case *ast.StarExpr:
		return receiver(typ.X)
	case *ast.IndexExpr:
		return receiver(typ.X)
	case *ast.IndexListExpr:
		return receiver(typ.X)
	case *ast.Ident:
		return typ.Name
	}
	return ""
}

func TestStates(t *testing.T) {
	set := token.NewFileSet()
	byPackage := map[string][]*ast.File{}
	for _, path := range files(t, func(path string) bool {
		return isGo(path) && !strings.HasSuffix(path, "_test.go") && !isTestPackage(filepath.Dir(path))
	}) {
		f, err := parser.ParseFile(set, path, read(t, path), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		byPackage[filepath.Dir(path)] = append(byPackage[filepath.Dir(path)], f)
	}
	for dir, files := range byPackage {
		for _, what := range crowded(files[0].Name.Name, files) {
			t.Errorf("%s: %s: name the states, or the parts", dir, what)
		}
	}
}

// TestStatesAreSeen: flags and fields are counted where they hide.
func TestStatesAreSeen(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
		type few struct { a, b, c bool; p *many }
		type half struct { a, b bool }
		type many struct { half; one struct{ c bool }; d atomic.Bool }
		type component struct { a, b, c bool }
		func (component) M() {}
		type whole struct { a bool; c component }
		type document struct { half; A, B bool `+"`json:\"a\"`"+` }`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := crowded("x", []*ast.File{f}); len(got) != 1 || !strings.HasPrefix(got[0], "many has 4 flags") {
		t.Error(got)
	}
	maxFields["x.many"] = 3
	defer delete(maxFields, "x.many")
	if got := crowded("x", []*ast.File{f}); len(got) != 2 || !strings.HasPrefix(got[0], "many has 4 fields") {
		t.Error(got)
	}
}
