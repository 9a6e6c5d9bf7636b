package billing

// Pots is a wallet at one moment: what was posted to it, less what sessions in
// progress have used since (accrued) and what is set aside for a cost about to
// begin (held). Welcome credit lives in Bonus, payments in Paid.
type Pots struct {
	Paid        Money // may be negative
	Bonus       Money // sum of credit that has not expired, never negative
	AccruedAny  Money // unposted usage that bonus credit may pay
	AccruedPaid Money // unposted usage that only the paid pot may pay
	Held        Money // line minutes granted but not begun, work priced but not done
}

// BonusLeft is the bonus credit that sessions in progress have not used up.
func (p Pots) BonusLeft() Money { return max(0, p.Bonus-p.AccruedAny) }

// PaidLeft is the paid pot after sessions in progress; below zero in overdraft.
func (p Pots) PaidLeft() Money {
	return p.Paid - p.AccruedPaid - max(0, p.AccruedAny-p.Bonus)
}

// Balance is what the account has: both pots, before holds.
func (p Pots) Balance() Money { return p.PaidLeft() + p.BonusLeft() }

// Spendable is what a session may be charged against, before holds: the paid pot
// alone when paidOnly, for welcome credit never pays numbers or outbound calls.
func (p Pots) Spendable(paidOnly bool) Money {
	if paidOnly {
		return p.PaidLeft()
	}
	return p.Balance()
}

// Covers says whether cost may begin without passing the overdraft floor, counting
// what is already held for others.
func (p Pots) Covers(cost Money, paidOnly bool, overdraft Money) bool {
	return p.Spendable(paidOnly)-p.Held-cost >= -overdraft
}
