package consume

func (c *Consumer) jsonEvent(e event) error { return nil }
func (c *Consumer) jsonReport(r Report)     {}
func (p *rowPrinter) jsonRow(g *group, key []byte, values []aggValue) {
}
