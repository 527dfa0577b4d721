"""The live loop: feedback is on the disk before it is learned, and nothing is lost or learned twice."""
