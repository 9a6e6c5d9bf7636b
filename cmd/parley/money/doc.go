// Package money is the money of a running server, around the ledger: the rate card in force
// (Cards), payments through the configured provider (Payments), work that is charged without a
// call (Work), credit that expires (HandleCredit), and the nightly verification of the ledger
// (Verification).
package money
