// Package agents has the commands about agents, also as files: their test cases, comparisons, and what they look things up in.
package agents

import "github.com/spf13/cobra"

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newAgentCommand(), newTestCommand(), newCaseCommand(), newKnowledgeCommand()}
}
