package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// groups are the commands as help lists them.
var groups = []struct{ title, commands string }{
	{"Conversations", "agent calls case knowledge replay simulate sound tail talk test"},
	{"Telephone", "bulk consents dial do-not-call message number phone trunk"},
	{"Speech", "denoise synth transcribe"},
	{"Account", "account balance engine-key key latency listen login logout logs profile rates requests secret usage webhook"},
	{"Server", "admin backup bench config demo doctor drain engine health migrate models nodes restore serve"},
	{"This program", "completion help version"},
}

// grouped puts the commands of root into their groups.
func grouped(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, name := range strings.Fields(g.commands) {
			for _, c := range root.Commands() {
				if c.Name() == name {
					c.GroupID = g.title
				}
			}
		}
	}
}
