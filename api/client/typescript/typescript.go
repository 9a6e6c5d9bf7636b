// Package typescript is the client for TypeScript and JavaScript, in browsers and in Node.js, and holds the part of it
// that the server's own pages load.
//
// src has the HTTP API, whose types and methods are generated, and voice the conversations. voice is JavaScript
// without a build: the playground and the button for pages of other sites import the very modules that the package has.
// Only the package is compiled, which writes their types down.
package typescript

import "embed"

//go:embed voice/*.js
var modules embed.FS

// Modules is the folder voice.
func Modules() embed.FS { return modules }
