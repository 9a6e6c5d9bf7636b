package main

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"parley/api/client"
)

// TestClientsAreCurrent holds what is generated of the clients to the document. PARLEY_GOLDEN=update writes it anew.
func TestClientsAreCurrent(t *testing.T) {
	t.Parallel()
	if os.Getenv("PARLEY_GOLDEN") == "update" {
		if err := run("../.."); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(text, "../../wire")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the document makes (%v): go run ./api/client/generate", name, err)
		}
	}
}

// TestMethodsByHand: the operations that Go has by hand are there, and so are their methods.
func TestMethodsByHand(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	calls, err := d.calls()
	if err != nil {
		t.Fatal(err)
	}
	unknown := maps.Clone(byHand)
	for _, c := range calls {
		delete(unknown, c.ID)
		if _, there := reflect.TypeFor[*client.Client]().MethodByName(cmp.Or(byHand[c.ID], pascal(c.ID))); !there {
			t.Errorf("no method has %s", c.ID)
		}
	}
	for id, method := range unknown {
		t.Errorf("%s is by hand for %s, which is no operation", method, id)
	}
}

// TestGenerate shows what a document becomes.
func TestGenerate(t *testing.T) {
	t.Parallel()
	files, err := generate([]byte(`
paths:
  /v1/notes/{case}:
    patch:
      operationId: change-note
      tags: [Notes]
      summary: Change a note
      parameters:
        - {in: path, name: case, required: true, schema: {type: string}}
        - {in: header, name: If-Match, schema: {type: string}}
      requestBody:
        content:
          application/json: {schema: {$ref: "#/components/schemas/Note"}}
          multipart/form-data: {schema: {type: object, properties: {file: {type: string, contentMediaType: application/octet-stream}}, required: [file]}}
      responses:
        "200": {content: {application/json: {schema: {$ref: "#/components/schemas/Note"}}}}
  /v1/notes:
    get:
      operationId: list-notes
      tags: [Notes]
      summary: List notes
      description: The newest first.
      parameters:
        - {in: query, name: from, schema: {type: string}, description: The earliest.}
        - {$ref: "#/components/parameters/cursor"}
      responses:
        "200": {content: {application/json: {schema: {$ref: "#/components/schemas/ListNote"}}}}
  /ws/notes:
    get: {operationId: hear-notes, tags: [Notes], responses: {"101": {}}}
components:
  parameters:
    cursor: {in: query, name: cursor, schema: {type: string}}
  schemas:
    ListNote:
      type: object
      required: [data, next_cursor]
      properties:
        data: {type: array, items: {$ref: "#/components/schemas/Note"}}
        next_cursor: {type: [string, "null"]}
    Note:
      type: object
      required: [text, kind]
      properties:
        text: {type: string, description: What it says.}
        kind: {type: [string, "null"], enum: [long, short]}
        from: {anyOf: [{type: string}, {type: object, properties: {name: {type: string}}}]}
        counts: {type: object, additionalProperties: {type: integer}}
`), "../../wire")
	if err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"typescript/src/api.ts": {
			"export interface Note {\n",
			"  counts?: Record<string, number>;\n",
			"  from?: string | {\n    name?: string;\n  };\n",
			"  kind: \"long\" | \"short\" | null;\n",
			"  /** What it says. */\n  text: string;\n",
			"  changeNote(caseId: string, body: Note | {\n    file: Blob;\n  }, options: Changed = {}): Promise<Note> {\n    return this.json(\"PATCH\", `/v1/notes/${encodeURIComponent(caseId)}`, { body, options });\n",
			"  /**\n   * List notes.\n   * The newest first.\n   */\n  listNotes(query: {\n    cursor?: string;\n    /** The earliest. */\n    from?: string;\n  } = {}, options: Asked = {}): Page<ListNote, Note> {\n",
		},
		"operations_notes.go": {
			"func (c *Client) ChangeNote(ctx context.Context, caseID string, body Note) (*Note, error) {\n\treturn ask[Note](ctx, c, http.MethodPatch, c.address(\"v1\", \"notes\", caseID), body)\n}\n",
			"func (c *Client) ListNotes(ctx context.Context, q ListNotesQuery) iter.Seq2[Note, error] {\n\treturn each[Note](ctx, c, q.values(), \"v1\", \"notes\")\n}\n",
			"// Note: An object of the service's HTTP API.\ntype Note struct {\n\tCounts map[string]int64 `json:\"counts,omitempty\"`\n",
		},
		"python/parley_client/types.py": {
			"Note = TypedDict(\n    \"Note\",\n    {\n        \"counts\": \"NotRequired[dict[str, int]]\",\n        \"from\": \"NotRequired[str | NoteFrom2]\",\n" +
				"        \"kind\": \"Literal[\\\"long\\\", \\\"short\\\", None]\",\n        # What it says.\n        \"text\": \"str\",\n",
			"class NoteFrom2(TypedDict):\n    name: NotRequired[str]\n",
			"class ListNote(TypedDict):\n    data: list[Note]\n    next_cursor: str | None\n",
		},
		"python/parley_client/client.py": {
			"    def change_note(self, case: str, body: t.Note | t.ChangeNoteBody2, *, if_match: str | None = None, timeout: float | None = None) -> t.Note:\n",
			"    def each_notes(self, *, from_: str | None = None, timeout: float | None = None) -> Iterator[t.Note]:\n",
		},
	} {
		for _, want := range wants {
			if !strings.Contains(string(files[file]), want) {
				t.Errorf("%s has no\n%s\nin\n%s", file, want, files[file])
			}
		}
		if strings.Contains(string(files[file]), "hear") {
			t.Errorf("%s has an operation of a socket", file)
		}
	}
}
