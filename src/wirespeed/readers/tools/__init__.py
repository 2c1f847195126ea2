"""readers/tools"""
