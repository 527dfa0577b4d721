"""rankloom"""
