"""readers/symptoms"""
