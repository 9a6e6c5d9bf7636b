package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	files, err := generate(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the document makes (%v): go run ./api/client/generate", name, err)
		}
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
`))
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
