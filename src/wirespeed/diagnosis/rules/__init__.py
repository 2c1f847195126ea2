"""diagnosis/rules"""
