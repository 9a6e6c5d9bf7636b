package conversation

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"parley/api/apitest"
)

// schemaFile is what apitest.AgentSchema embeds. To renew it run the test with PARLEY_GOLDEN=update.
const schemaFile = "../../../api/apitest/agent-schema.json"

// TestAgentSchema keeps the schema that tests of pages use what servers have.
func TestAgentSchema(t *testing.T) {
	var got bytes.Buffer
	if err := json.Indent(&got, Definition(nil, nil).Schema, "", " "); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PARLEY_GOLDEN") == "update" {
		if err := os.WriteFile(schemaFile, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got.Bytes(), apitest.AgentSchema) {
		t.Errorf("%s is not the schema of agents: run this test with PARLEY_GOLDEN=update and look at the difference", schemaFile)
	}
}
